#include "histogram/count_keys.hpp"

#include <ooc/detail/checksum/checksum.hpp>
#include <ooc/error.hpp>

#include <numeric>
#include <utility>

namespace ooc::detail::quantiles {

template <IsElement T>
QuantileCounts CountKeys<T>::result(Partial total) const {
  QuantileCounts found;
  found.count = binning::elements_of(total);
  found.counts = binning::counts_of(std::move(total), ranges_->counters());
  const std::uint64_t sum =
      std::accumulate(found.counts.begin(), found.counts.end(), std::uint64_t{0});
  if (sum != found.count) {
    throw Error(ErrorKind::internal, "the bins of keys hold " + std::to_string(sum) +
                                         " elements of " + std::to_string(found.count));
  }
  found.nan = found.counts.back();
  found.counts.resize(ranges_->size());
  return found;
}

template <IsElement T>
std::string CountKeys<T>::question() const {
  const auto& [shift, bits, firsts, short_firsts] = *ranges_;
  return std::string(name_of(type)) + " by " + std::to_string(bits) +
         " bits of their order above " + std::to_string(shift) + " others, in ranges of hash " +
         std::to_string(xxh3_64(std::as_bytes(std::span(firsts))));
}

template class CountKeys<std::uint8_t>;
template class CountKeys<std::uint16_t>;
template class CountKeys<std::uint32_t>;
template class CountKeys<std::uint64_t>;
template class CountKeys<std::int8_t>;
template class CountKeys<std::int16_t>;
template class CountKeys<std::int32_t>;
template class CountKeys<std::int64_t>;
template class CountKeys<Float16>;
template class CountKeys<float>;
template class CountKeys<double>;
template class CountKeys<BFloat16>;

}  // namespace ooc::detail::quantiles
