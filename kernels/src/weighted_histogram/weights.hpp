#pragma once

#include "reduce/exact_sum.hpp"

#include <ooc/detail/kernels/simd.hpp>
#include <ooc/device.hpp>
#include <ooc/dtype.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "weighted_histogram/bin_sums.hpp"

// How weights are added to the sums of bins. This is the only definition: the loops of both devices
// are compiled from it.

namespace ooc::detail::weighing {

/// The most weights of a sum, for which the highest of its limbs has room.
inline constexpr std::uint64_t most_weights = std::uint64_t{1} << 60;

/// The sum of weights of a type: so many limbs of 32 bits, of which a weight changes `digits`.
template <class T>
struct WeightFormat {
  static constexpr unsigned digits = sizeof(T) == 8 ? 2 : 1;
  static constexpr unsigned limbs = digits + 1;
};
template <class T>
requires is_floating<T>
struct WeightFormat<T> {
  using Wide = std::conditional_t<sizeof(T) == 8, double, float>;  // has all weights
  using Reached = reduction::ReachedLimbs<Wide>;

  static constexpr unsigned digits =
      reduction::limbs_of(reduction::FloatFormat<Wide>::fraction_bits + 1);
  static constexpr unsigned limbs = Reached::count + 1;
  static_assert(Reached::first + limbs <= reduction::ExactSum::limb_count);
};

/// Number of weights that can be added between two carries: see reduction::ExactSum.
inline constexpr std::uint64_t weights_between_carries = std::uint64_t{1} << 30;

/// True unless a weight is NaN or infinite.
template <class T>
constexpr bool is_finite(T weight) {
  if constexpr (is_floating<T>) {
    using Format = reduction::FloatFormat<typename WeightFormat<T>::Wide>;
    const auto bits =
        std::bit_cast<typename Format::Bits>(static_cast<typename WeightFormat<T>::Wide>(weight));
    return (bits >> Format::fraction_bits & Format::max_exponent) != Format::max_exponent;
  }
  return true;
}

/// Returns the NonFinite of a weight; 0 if it is finite.
template <class T>
constexpr std::uint32_t non_finite(T weight) {
  if (is_finite(weight)) return 0;
  const double value = to_double(weight);
  return value > 0   ? NonFinite::infinity
         : value < 0 ? NonFinite::negative_infinity
                     : NonFinite::nan;
}

/// Returns the digits of a weight, which are 0 if it is not finite.
template <class T>
constexpr reduction::LimbDigits<WeightFormat<T>::digits> digits_of(T weight) {
  if constexpr (is_floating<T>) {
    using Wide = typename WeightFormat<T>::Wide;
    using Format = reduction::FloatFormat<Wide>;
    constexpr unsigned begin = WeightFormat<T>::Reached::first * reduction::ExactSum::limb_bits;
    const auto bits = std::bit_cast<typename Format::Bits>(static_cast<Wide>(weight));
    const auto exponent =
        static_cast<unsigned>(bits >> Format::fraction_bits) & Format::max_exponent;
    const auto fraction = bits & (Format::implicit_one - 1);
    const auto finite = exponent == 0 ? fraction : fraction | Format::implicit_one;
    return reduction::digits_of<Format::fraction_bits + 1>(
        exponent == Format::max_exponent ? 0 : finite, Format::position_of(exponent) - begin,
        bits >> (8 * sizeof(bits) - 1) != 0);
  } else if constexpr (sizeof(T) == 8) {
    return {0, {static_cast<std::uint32_t>(weight), static_cast<std::int64_t>(weight >> 32)}};
  } else {
    return {0, {weight}};
  }
}

/// The sums of one lane. Memory is allocated on construction. Used by one thread at a time.
class WeightAdder {
 public:
  virtual ~WeightAdder() = default;

  /// Adds each of `weights`, fewer than 2^30, of the type that the adder was made for, to the sum
  /// of its counter. `numbers`: the numbers of the counters, of so many.
  virtual void add(Stream& stream, const std::uint32_t* numbers,
                   DeviceSpan<const std::byte> weights) = 0;

  /// Returns the sums on the host. Called once, at the end.
  virtual BinSums take(Stream& stream) = 0;
};

std::unique_ptr<WeightAdder> make_cpu_weight_adder(ElementType type, std::size_t counters,
                                                   Simd simd);
std::unique_ptr<WeightAdder> make_cuda_weight_adder(ElementType type, std::size_t counters,
                                                    Stream& stream);

}  // namespace ooc::detail::weighing
