#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ooc_run {

/// Bytes moved over time, in bins of one width from time 0 on. There are `most` bins at most,
/// however long it takes: where one more would be needed, neighbours become one, and the width
/// doubles. Nothing is lost: the bins' sum is the bytes that were added.
class RateBins {
 public:
  using Time = std::chrono::nanoseconds;

  /// `most`: even. Nothing is allocated later.
  RateBins(Time finest, std::size_t most);

  /// Spreads bytes evenly over the time from `begin`, not before 0, to `end`.
  void add(Time begin, Time end, std::uint64_t bytes);

  Time width() const noexcept { return width_; }

  /// Up to the last in which something moved.
  const std::vector<std::uint64_t>& bytes() const noexcept { return bytes_; }

 private:
  void double_width();

  Time width_;
  std::size_t most_;
  std::vector<std::uint64_t> bytes_;
};

}  // namespace ooc_run
