#pragma once

#include <ooc/fold.hpp>
#include <ooc/kernels/number.hpp>

#include <cstdint>
#include <optional>

namespace ooc {

/// What NaN does to the statistics: makes them NaN, as NumPy's functions do, or is left out, as
/// NumPy's nan-functions do.
enum class NanPolicy { propagate, omit };

struct ReduceOptions {
  NanPolicy nan = NanPolicy::propagate;

  /// Sum and mean are rounded once, from their exact values: to the nearest double, and from the
  /// middle between two to the even one. Takes longer: each element is added to exact counters too.
  bool exact = false;
};

/// What one pass over numbers tells. Without elements the sum is 0 and the other values are empty.
struct Statistics {
  std::uint64_t count = 0;  // elements, NaN included
  std::uint64_t nan = 0;
  Number sum, min, max;                          // min and max: the elements at argmin and argmax
  std::optional<std::uint64_t> argmin, argmax;   // first index of that value; -0 equals +0
  std::optional<double> mean, variance, stddev;  // sum / count; population variance
};

/// Computes all statistics of a source in one pass, on the coordinator's device. Integer sums are
/// exact (128 bit). Floating sums, mean and variance are built from tiles in double precision and
/// have the same bits for any chunk size, number of streams, engine and device: within a tile 256
/// interleaved sums and a second look for the squared deviations, between tiles a binary tree with
/// the merge of Chan, Golub and LeVeque (1979). Elements of a source without a type are bytes.
///
/// An exact sum is infinite only if it lies beyond the largest double, or among the elements there
/// are infinities; its mean is finite even then, if the elements are. Variance is never exact.
Result<Statistics> reduce(Coordinator& coordinator, const Source& source,
                          const ReduceOptions& options = {}, const PassOptions& wanted = {});

/// reduce() as an operator, for elements of a type that is known: to be folded together with
/// others, in the pass that they need anyway.
template <IsElement T>
class Reduction {
 public:
  using Input = T;
  using Partial = OpaquePartial;
  static constexpr bool merges_every_chunk = true;
  static constexpr bool takes_any_chunk = true;

  explicit Reduction(ReduceOptions options = {}) : options_(options) {}

  Partial make_partial(Stream& stream) const;
  void consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const;
  void finish(Stream& stream, Partial& partial) const;
  void merge(Partial& total, Partial& part) const;
  Statistics result(Partial total) const;

 private:
  ReduceOptions options_;
};

/// Checks what reduce() has found in a whole source, with the same options. Reads the source once
/// more, through the page cache and on the CPU, looks at each value by itself, adds exactly, and
/// shares no other code with reduce(). Returns if all is the same, floating sums, mean and variance
/// to within proven bounds of the rounding (unless they are exact);
/// else throws Error(verify), which says what is not. Throws besides as a pass does, and
/// Error(interrupted) if it is stopped. Uses as many threads as
/// Options::streams or Options::threads say, or one for each core.
void verify_reduce(Coordinator& coordinator, const Source& source, const ReduceOptions& options,
                   const Statistics& found, const PassOptions& wanted = {});

}  // namespace ooc
