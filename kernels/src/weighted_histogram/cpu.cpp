#include <algorithm>
#include <array>

#include "histogram/blocks.hpp"
#include "weighted_histogram/weights.hpp"

namespace ooc::detail::weighing {

namespace {

using binning::block_elements;

/// The weights of a block as digits, and where to add them.
template <unsigned count>
struct Digits {
  alignas(64) std::array<std::uint32_t, block_elements> places;  // of the lowest, among all limbs
  alignas(64) std::array<std::array<std::int64_t, block_elements>, count> digits;
};

/// Returns true if all weights of a block are finite.
template <class T, unsigned count>
[[gnu::always_inline]] inline bool find_digits(const std::uint32_t* __restrict numbers,
                                               const T* __restrict weights,
                                               Digits<count>& __restrict found) {
  std::uint32_t others = 0;
  for (std::size_t i = 0; i < block_elements; ++i) {
    const auto [first, digits] = digits_of(weights[i]);
    found.places[i] = numbers[i] * WeightFormat<T>::limbs + first;
    for (unsigned j = 0; j < count; ++j) found.digits[j][i] = digits[j];
    others |= is_finite(weights[i]) ? 0u : 1u;
  }
  return others == 0;
}

template <class T, unsigned count>
bool find_digits_sse2(const std::uint32_t* numbers, const T* weights, Digits<count>& found) {
  return find_digits(numbers, weights, found);
}

template <class T, unsigned count>
[[gnu::target("avx2,f16c")]] bool find_digits_avx2(const std::uint32_t* numbers, const T* weights,
                                                   Digits<count>& found) {
  return find_digits(numbers, weights, found);
}

template <class T, unsigned count>
[[gnu::target(
    "avx2,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512")]] bool
find_digits_avx512(const std::uint32_t* numbers, const T* weights, Digits<count>& found) {
  return find_digits(numbers, weights, found);
}

template <class T>
class CpuWeightAdder final : public WeightAdder {
 public:
  CpuWeightAdder(std::size_t counters, Simd simd)
      : find_digits_(binning::for_level(simd, find_digits_sse2<T, digits>,
                                        find_digits_avx2<T, digits>,
                                        find_digits_avx512<T, digits>)),
        sums_{std::vector<std::int64_t>(counters * limbs), std::vector<std::uint32_t>(counters)} {}

  void add(Stream& /*stream*/, const std::uint32_t* numbers,
           DeviceSpan<const std::byte> data) override {
    const T* const weights = binning::elements<T>(data);
    const std::size_t count = data.size / sizeof(T);
    if (count > weights_between_carries - added_) carry();
    added_ += count;
    const std::size_t whole = count - count % block_elements;
    for (std::size_t i = 0; i < whole; i += block_elements) {
      add_block(numbers + i, weights + i, block_elements);
    }
    if (whole == count) return;
    std::array<std::uint32_t, block_elements> last_numbers{};
    std::array<T, block_elements> last_weights{};
    std::copy(numbers + whole, numbers + count, last_numbers.begin());
    std::copy(weights + whole, weights + count, last_weights.begin());
    add_block(last_numbers.data(), last_weights.data(), count - whole);
  }

  BinSums take(Stream& /*stream*/) override {
    carry();
    return std::move(sums_);
  }

 private:
  static constexpr unsigned digits = WeightFormat<T>::digits, limbs = WeightFormat<T>::limbs;

  /// Adds the first `count` weights of a block.
  void add_block(const std::uint32_t* numbers, const T* weights, std::size_t count) {
    Digits<digits> found;
    if (!find_digits_(numbers, weights, found)) {
      for (std::size_t i = 0; i < count; ++i) {
        sums_.non_finite[numbers[i]] |= non_finite(weights[i]);
      }
    }
    std::int64_t* const all = sums_.limbs.data();
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t* const sum = all + found.places[i];
      for (unsigned j = 0; j < digits; ++j) sum[j] += found.digits[j][i];
    }
  }

  void carry() {
    for (std::size_t i = 0; i < sums_.limbs.size(); i += limbs) {
      reduction::carry_limbs(sums_.limbs.data() + i, limbs);
    }
    added_ = 0;
  }

  bool (*find_digits_)(const std::uint32_t*, const T*, Digits<digits>&);
  BinSums sums_;
  std::uint64_t added_ = 0;  // weights since the last carry()
};

}  // namespace

std::unique_ptr<WeightAdder> make_cpu_weight_adder(ElementType type, std::size_t counters,
                                                   Simd simd) {
  return visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<WeightAdder> {
    return std::make_unique<CpuWeightAdder<T>>(counters, simd);
  });
}

}  // namespace ooc::detail::weighing
