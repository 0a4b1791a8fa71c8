#pragma once

#include "histogram/bins.hpp"

#include <ooc/device.hpp>
#include <ooc/io/element_type.hpp>
#include <ooc/kernels/simd.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

// What the two backends of histogram() do: count in bins, and look for the range of the data.

namespace ooc::binning {

/// One lane's counters. All its memory is allocated when it is made.
class BinCounter {
 public:
  virtual ~BinCounter() = default;

  /// Counts fewer than 2^31 elements of the type that it was made for.
  virtual void count(Stream& stream, DeviceSpan<const std::byte> data) = 0;

  /// The counts of all bins, then of what is below, above and NaN. Called once, at the end.
  virtual std::vector<std::uint64_t> finish(Stream& stream) = 0;
};

/// `bins` must outlive the counter.
std::unique_ptr<BinCounter> make_cpu_counter(ElementType type, const Bins& bins, Simd simd);
std::unique_ptr<BinCounter> make_cuda_counter(ElementType type, const Bins& bins, Stream& stream);

/// What must be known of the data to choose a range, and to notice if it changes later.
struct Extremes {
  double lowest = std::numeric_limits<double>::infinity();  // of the finite values
  double highest = -std::numeric_limits<double>::infinity();
  std::uint64_t nan = 0;
  std::uint64_t negative_infinities = 0;
  std::uint64_t positive_infinities = 0;

  bool any_finite() const { return lowest <= highest; }
  void merge(const Extremes& other);
};

/// One lane's look at the data.
class ExtremesFinder {
 public:
  virtual ~ExtremesFinder() = default;
  virtual void look(Stream& stream, DeviceSpan<const std::byte> data) = 0;
  virtual Extremes finish(Stream& stream) = 0;
};

std::unique_ptr<ExtremesFinder> make_cpu_finder(ElementType type, Simd simd);
std::unique_ptr<ExtremesFinder> make_cuda_finder(ElementType type, Stream& stream);

}  // namespace ooc::binning
