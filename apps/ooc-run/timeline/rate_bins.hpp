#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ooc_run {

/// Bytes moved over time, in bins of equal width from time 0 on. The number of bins is limited to
/// `most`: if more were needed, neighbours are merged and the width doubles. The sum over all bins
/// is exactly the number of bytes added.
class RateBins {
 public:
  using Time = std::chrono::nanoseconds;

  /// `most` is even. Allocates all memory.
  RateBins(Time finest, std::size_t most);

  /// Spreads bytes evenly over the time from `begin` to `end`. `begin` is not negative.
  void add(Time begin, Time end, std::uint64_t bytes);

  Time width() const noexcept { return width_; }

  /// Returns the bins up to the last one that was added to.
  const std::vector<std::uint64_t>& bytes() const noexcept { return bytes_; }

 private:
  void double_width();

  Time width_;
  std::size_t most_;
  std::vector<std::uint64_t> bytes_;
};

}  // namespace ooc_run
