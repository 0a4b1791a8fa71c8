#include "timeline/rate_bins.hpp"

#include <algorithm>
#include <cassert>

namespace ooc_run {

RateBins::RateBins(Time finest, std::size_t most) : width_(finest), most_(most) {
  assert(finest > Time{} && most > 0 && most % 2 == 0);
  bytes_.reserve(most);
}

void RateBins::add(Time begin, Time end, std::uint64_t bytes) {
  end = std::max(end, begin + Time{1});
  // Round cumulative counts, so that a rounding error in one bin is made up in the next.
  const auto bytes_until = [&](Time when) {
    const auto part = static_cast<double>((std::min(when, end) - begin).count());
    const double share = part / static_cast<double>((end - begin).count());
    return when >= end ? bytes : static_cast<std::uint64_t>(share * static_cast<double>(bytes));
  };
  const auto last_bin = [&] { return static_cast<std::size_t>((end - Time{1}) / width_); };
  while (last_bin() >= most_) double_width();
  const std::size_t last = last_bin();
  if (bytes_.size() <= last) bytes_.resize(last + 1);
  std::uint64_t placed = 0;
  for (auto bin = static_cast<std::size_t>(begin / width_); bin <= last; ++bin) {
    const std::uint64_t until = bytes_until(width_ * (bin + 1));
    bytes_[bin] += until - placed;
    placed = until;
  }
}

void RateBins::double_width() {
  const std::size_t pairs = (bytes_.size() + 1) / 2;
  for (std::size_t i = 0; i < pairs; ++i) {
    const bool has_second = 2 * i + 1 < bytes_.size();
    bytes_[i] = bytes_[2 * i] + (has_second ? bytes_[2 * i + 1] : 0);
  }
  bytes_.resize(pairs);
  width_ *= 2;
}

}  // namespace ooc_run
