#pragma once

#include "histogram/key_bins.hpp"

#include <ooc/detail/kernels/simd.hpp>
#include <ooc/detail/pass/operation.hpp>
#include <ooc/device.hpp>
#include <ooc/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

// The operations that both backends of histogram() implement: counting in bins, and finding the
// range of the data.

namespace ooc::detail::binning {

/// The counters of one lane. Memory is allocated on construction. Used by one thread at a time.
class BinCounter {
 public:
  virtual ~BinCounter() = default;

  /// Counts the elements in `data`, fewer than 2^31, of the type that the counter was made for.
  virtual void count(Stream& stream, DeviceSpan<const std::byte> data) = 0;

  /// Copies the counts to the host. Called once, at the end.
  virtual void finish(Stream& /*stream*/) {}

  /// Adds the counts to `counts`: of all bins, then below, above and NaN. Call it after finish().
  virtual void add_to(std::span<std::uint64_t> counts) = 0;
};

/// Host memory for counting in so many bins: for the pass, the edges of the operator and of the
/// histogram and the total; for each lane, its counters.
HostBytes counting_bytes(ElementType type, std::size_t bins);

/// `bins` must outlive the counter.
std::unique_ptr<BinCounter> make_cpu_counter(ElementType type, const Bins& bins, Simd simd);
std::unique_ptr<BinCounter> make_cuda_counter(ElementType type, const Bins& bins, Stream& stream);

/// Host memory for counting in KeyRanges with so many bins.
HostBytes key_counting_bytes(ElementType type, std::size_t bins);

/// `ranges` must outlive the counter.
std::unique_ptr<BinCounter> make_cpu_counter(ElementType type, const KeyRanges& ranges, Simd simd);
std::unique_ptr<BinCounter> make_cuda_counter(ElementType type, const KeyRanges& ranges,
                                              Stream& stream);

// Counters of elements that are numbers of counters already, of the type u4.
std::unique_ptr<BinCounter> make_cpu_counter(const NumberedBins& bins, Simd simd);
std::unique_ptr<BinCounter> make_cuda_counter(const NumberedBins& bins, Stream& stream);

/// Finds the counter of each element instead of counting. Used by one thread at a time.
class BinFinder {
 public:
  virtual ~BinFinder() = default;

  /// Writes the number of the counter of each element in `data`, of the type that the finder was
  /// made for, to `numbers`. Enqueued on the stream.
  virtual void find(Stream& stream, DeviceSpan<const std::byte> data, std::uint32_t* numbers) = 0;
};

/// `bins` must outlive the finder.
std::unique_ptr<BinFinder> make_cpu_bin_finder(ElementType type, const Bins& bins, Simd simd);
std::unique_ptr<BinFinder> make_cuda_bin_finder(ElementType type, const Bins& bins, Stream& stream);

/// The properties of the data that determine the range. They also reveal whether the data changed
/// between two passes.
struct Extremes {
  double lowest = std::numeric_limits<double>::infinity();  // of the finite values
  double highest = -std::numeric_limits<double>::infinity();
  std::uint64_t nan = 0;
  std::uint64_t negative_infinities = 0;
  std::uint64_t positive_infinities = 0;

  bool any_finite() const { return lowest <= highest; }
  void merge(const Extremes& other);
};

/// Finds the Extremes of the chunks of one lane. Used by one thread.
class ExtremesFinder {
 public:
  virtual ~ExtremesFinder() = default;
  virtual void look(Stream& stream, DeviceSpan<const std::byte> data) = 0;
  virtual Extremes finish(Stream& stream) = 0;
};

std::unique_ptr<ExtremesFinder> make_cpu_finder(ElementType type, Simd simd);
std::unique_ptr<ExtremesFinder> make_cuda_finder(ElementType type, Stream& stream);

}  // namespace ooc::detail::binning
