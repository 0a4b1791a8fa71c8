#include "reduce/exact_bins.hpp"

#include <bit>
#include <cassert>
#include <utility>

namespace ooc::detail::reduction {

template <class T>
void ExactBins<T>::add(const T* values, std::size_t count) {
  constexpr std::uint64_t one_element = std::uint64_t{1} << count_position;
  constexpr std::uint64_t high_fraction = (std::uint64_t{1} << high_fraction_bits) - 1;
  assert(count <= most_elements);
  if (elements_ + count > most_elements) empty_bins();
  elements_ += count;

  const auto add_one = [this, values](std::size_t i, std::size_t copy) {
    const auto bits = std::bit_cast<typename Format::Bits>(values[i]);
    Bin& bin = bins_[bits >> Format::fraction_bits][copy];
    if constexpr (words == 2) bin.front() += static_cast<std::uint32_t>(bits);
    bin.back() += (bits >> (32 * (words - 1)) & high_fraction) | one_element;
  };
  std::size_t i = 0;
  for (; i + copies <= count; i += copies) {
    for (std::size_t copy = 0; copy < copies; ++copy) add_one(i + copy, copy);
  }
  for (; i < count; ++i) add_one(i, 0);
}

template <class T>
void ExactBins<T>::empty_bins() {
  constexpr std::size_t exponents = Format::max_exponent + 1;
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    Bin total{};
    for (Bin& bin : bins_[i]) {
      for (std::size_t word = 0; word < words; ++word) total[word] += bin[word];
      bin = {};
    }
    const bool negative = i >= exponents;
    const auto exponent = static_cast<unsigned>(i % exponents);
    if (exponent == Format::max_exponent || total.back() == 0) continue;
    const unsigned position = Format::position_of(exponent);
    const std::uint64_t count = total.back() >> count_position;
    std::uint64_t high = total.back() - (count << count_position);
    if (exponent != 0) high += count << high_fraction_bits;
    sum_.add(high, position + 32 * (words - 1), negative);
    if constexpr (words == 2) sum_.add(total.front(), position, negative);
  }
  sum_.carry();
  elements_ = 0;
}

template <class T>
ExactSum ExactBins<T>::take() {
  empty_bins();
  return std::exchange(sum_, {});
}

template class ExactBins<float>;
template class ExactBins<double>;

}  // namespace ooc::detail::reduction
