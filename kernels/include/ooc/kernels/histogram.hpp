#pragma once

#include <ooc/fold.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ooc {

inline constexpr std::size_t max_bins = std::size_t{1} << 20;

/// Which bins to count in.
struct HistogramOptions {
  std::size_t bins = 256;  // 1 to max_bins

  struct Range {
    double lower, upper;
  };

  /// Default: 0 to 256 for u1 and -128 to 128 for i1, unless the bins are logarithmic; else the
  /// finite minimum and maximum of the data, found by a pass of its own. A range of no width is
  /// widened by 0.5 to each side.
  std::optional<Range> range{};

  bool logarithmic = false;  // equal widths on a logarithmic scale; the range must be positive

  /// If given, the bins: finite and never falling. The other options are unused then.
  std::vector<double> edges{};
};

/// Counts of the bins [edges[i], edges[i + 1]), the last one closed, and of everything outside:
/// sum(counts) + below + above + nan == count, which is checked. -Inf is below, +Inf above.
struct Histogram {
  std::vector<double> edges;
  std::vector<std::uint64_t> counts;
  std::uint64_t below = 0, above = 0, nan = 0, count = 0;
};

/// Counts the elements of a source in bins, exactly as
/// `numpy.histogram(x.astype(float64), bins, range)` does, for every element type (NumPy casts
/// the edges to the type of f2 and f4 data; we do not). Throws Error: `usage` for bins or a range
/// that make no sense, `bad_input` if the data has no finite value or its range has no room in
/// double precision for so many bins, `input_changed` if the second pass finds values that the
/// first did not. Without elements, there are bins (with zeros in them) only if a range or edges
/// are given. The result of a pass for the range that was stopped early has none. Stats::passes is
/// 2 if the range had to be found. `wanted` holds for each of the passes.
Result<Histogram> histogram(Coordinator& coordinator, const Source& source,
                            const HistogramOptions& options = {}, const PassOptions& wanted = {});

/// How often histogram() reads the source: twice, if the range of the bins is to be found.
std::size_t histogram_passes(const Source& source, const HistogramOptions& options);

/// What histogram() would say of its passes, as dry_run_pass(). Throws what it would throw for bins
/// and a range that make no sense.
Stats dry_run_histogram(const Options& machine, DeviceKind device, const Source& source,
                        const HistogramOptions& options = {}, const PassOptions& wanted = {});

namespace binning {
struct Bins;
}

/// The counting of histogram() as an operator, for elements of a type that is known: to be folded
/// together with others, in the pass that they need anyway.
template <IsElement T>
class CountBins {
 public:
  using Input = T;
  using Partial = OpaquePartial;
  static constexpr bool takes_any_chunk = true;

  /// Throws Error(usage) for options that make no sense, and without a range where that of the data
  /// would have to be found first.
  explicit CountBins(const HistogramOptions& options = {});

  /// For histogram(), which has found it.
  explicit CountBins(std::shared_ptr<const binning::Bins> bins) : bins_(std::move(bins)) {}

  Partial make_partial(Stream& stream) const;
  void consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const;
  void finish(Stream& stream, Partial& partial) const;
  void merge(Partial& total, Partial& part) const;
  Histogram result(Partial total) const;

 private:
  std::shared_ptr<const binning::Bins> bins_;  // of all copies
};

/// Checks what histogram() has found in a whole source, with the same options. Reads the source
/// once more, through the page cache and on the CPU, finds each value's bin by comparing it with
/// the edges, and shares no other code with histogram(). Returns if all of it is the same, edges to
/// within their rounding; else throws Error(verify), which says what is not. Throws besides as a
/// pass does, and Error(interrupted) if it is stopped. Uses as many threads as
/// Options::streams or Options::threads say, or one for each core.
void verify_histogram(Coordinator& coordinator, const Source& source,
                      const HistogramOptions& options, const Histogram& found,
                      const PassOptions& wanted = {});

}  // namespace ooc
