#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/kernels/number.hpp>
#include <ooc/fold.hpp>

#include <cstdint>
#include <optional>

namespace ooc {

/// How NaN is treated. `propagate`: one NaN makes all statistics NaN, as in NumPy's functions.
/// `omit`: NaN is skipped, as in NumPy's nan-functions.
enum class NanPolicy { propagate, omit };

struct ReduceOptions {
  NanPolicy nan = NanPolicy::propagate;

  /// Round sum and mean once, from their exact values, to the nearest double, ties to even. Slower:
  /// every element is also added to exact counters.
  bool exact = false;
};

/// Statistics of all elements. Without elements the sum is 0 and the other values are empty.
struct Statistics {
  std::uint64_t count = 0;  // all elements, including NaN
  std::uint64_t nan = 0;
  Number sum, min, max;  // min and max are the elements at argmin and argmax
  // First index of the minimum or maximum; -0 equals +0.
  std::optional<std::uint64_t> argmin, argmax;
  std::optional<double> mean, variance, stddev;  // sum / count; population variance
};

/// Elements of a tile, the unit from which floating-point results are built up.
inline constexpr std::size_t tile_elements = 65536;

/// Computes all statistics of a source in one pass, on the coordinator's device. A source without a
/// type is taken as bytes (u1). Integer sums are exact (128 bits). Floating sums, mean and variance
/// are computed in double precision and have the same bits for any chunk size, number of streams,
/// engine and device: each tile has 256 interleaved sums and a second loop for the squared
/// deviations, and tiles are merged in a binary tree by the formula of Chan, Golub and LeVeque
/// (1979).
///
/// With ReduceOptions::exact, the sum is infinite only if it is beyond the largest double or if an
/// element is infinite. The mean of finite elements is then always finite. Variance is never exact.
///
/// Throws Error as fold() does.
OOC_API Result<Statistics> reduce(Coordinator& coordinator, const Source& source,
                                  const ReduceOptions& options = {},
                                  const PassOptions& wanted = {});

/// reduce() as an operator, for a known element type, so that it can be folded together with other
/// operators in one pass.
template <IsElement T>
class OOC_API Reduction {
 public:
  using Input = T;
  using Partial = OpaquePartial;
  static constexpr Merge merge_order = Merge::by_place;
  static constexpr std::size_t partition_records = tile_elements;

  explicit Reduction(ReduceOptions options = {}) : options_(options) {}

  Partial make_partial(Stream& stream) const;
  void consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const;
  void finish(Stream& stream, std::span<Partial> partials) const;
  void merge(Partial& total, Partial& part) const;
  Statistics result(Partial total) const;

 private:
  ReduceOptions options_;
};

/// Verifies a result of reduce() on a whole source, given the same options. Reads the source once
/// more, through the page cache and on the CPU, one value at a time, adds exactly, and shares no
/// other code with reduce(). All statistics must be equal, except that floating sums, mean and
/// variance may differ within proven bounds on rounding (unless they are exact); if not, throws
/// Error(verify), which names the first difference. Throws also as a pass does, and
/// Error(interrupted) if it is stopped. Uses Options::streams or Options::threads threads, or by
/// default one for each core.
OOC_API void verify_reduce(Coordinator& coordinator, const Source& source,
                           const ReduceOptions& options, const Statistics& found,
                           const PassOptions& wanted = {});

}  // namespace ooc
