#pragma once

#include <ooc/collect.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/reduce.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace ooc {

inline constexpr std::size_t max_bins = std::size_t{1} << 20;  ///< largest number of bins

/// A rule for the number of bins, as in numpy.histogram_bin_edges(). With a rule, the bins have
/// equal widths and reach from the minimum to the maximum, for every element type. n is the number
/// of finite values. Bins of integers are at least 1 wide.
enum class BinRule {
  sqrt,     ///< the square root of n
  sturges,  ///< log2(n) + 1
  scott,    ///< bins of the width 3.49 * (standard deviation) / cbrt(n)
  fd,  ///< bins of the width 2 * (distance of the quartiles) / cbrt(n), of Freedman and Diaconis
  automatic  ///< as `fd`, but at least as many as `sturges` and at most twice as many as `sqrt`
};

/// How many bins a histogram has: a number, or a rule.
///
///     const auto [found, stats] = ooc::histogram(coordinator, source, {.bins = BinRule::scott});
class BinCount {
 public:
  constexpr BinCount(std::size_t number) noexcept : number_(number) {}  ///< 1 to max_bins
  constexpr BinCount(BinRule rule) noexcept : rule_(rule) {}            ///< See BinRule.

  /// Returns the rule; empty for a number.
  constexpr std::optional<BinRule> rule() const noexcept { return rule_; }
  /// Returns the number; 0 for a rule.
  constexpr std::size_t number() const noexcept { return number_; }

  /// True if both are the same number, or the same rule.
  friend constexpr bool operator==(const BinCount&, const BinCount&) noexcept = default;

 private:
  std::size_t number_ = 0;
  std::optional<BinRule> rule_{};
};

/// The bins of a histogram.
struct HistogramOptions {
  /// 1 to max_bins, or a rule. A rule excludes `range` and `logarithmic`, and requires an
  /// additional pass over the data first.
  BinCount bins = 256;

  /// The ends of the bins.
  struct Range {
    double lower;  ///< edge of the first bin
    double upper;  ///< upper edge of the last bin, which includes it
  };

  /// Ends of the first and last bin. Default: 0 to 256 for u1 and -128 to 128 for i1, unless
  /// `logarithmic` is set or a rule is given; otherwise the finite minimum and maximum, which
  /// a pass before the counting pass finds. A range of width 0 is widened by 0.5 on each
  /// side.
  std::optional<Range> range{};

  bool logarithmic = false;  ///< equal widths on a logarithmic scale; the range must be positive

  /// Edges of the bins, if not empty: finite and non-decreasing, 2 to max_bins + 1 of them. The
  /// other options are ignored then.
  std::vector<double> edges{};
};

/// A histogram. Bin i holds the values in [edges[i], edges[i + 1]); the last bin includes its upper
/// edge. Every element is counted once: sum(counts) + below + above + nan == count. -Inf counts as
/// below, +Inf as above.
struct Histogram {
  std::vector<double> edges;          ///< one more than there are bins; non-decreasing
  std::vector<std::uint64_t> counts;  ///< of elements in each bin
  std::uint64_t below = 0;            ///< elements below the first edge
  std::uint64_t above = 0;            ///< elements above the last edge
  std::uint64_t nan = 0;              ///< elements that are NaN
  std::uint64_t count = 0;            ///< all elements
};

/// Counts the elements of a source in bins, exactly as `numpy.histogram(x.astype(float64), bins,
/// range)` does, for every element type. (NumPy itself casts the edges to the type of f2 and f4
/// data; this function does not.) Reads the source in one pass, or in two if it must find the range
/// first; OutcomeStats::passes is their number. On a GPU, the second pass reads only the data that
/// did not fit in its memory (see Resident). `wanted` applies to each pass.
///
///     const auto [found, stats] = ooc::histogram(coordinator, source, {.bins = 100});
///
/// For an empty source, the result has bins (with counts of 0) only if a range or edges are given.
/// If the pass that finds the range is stopped early, the result has no bins.
///
/// Throws Error: `usage` for invalid bins or an invalid range; `bad_input` if the data has no
/// finite value, if its range is too narrow in double precision for so many bins, or if a rule
/// gives more than max_bins or needs a standard deviation that the data does not have;
/// `input_changed` if the second pass finds values that the first did not; and as fold() does.
[[nodiscard]] OOC_API Result<Histogram> histogram(Coordinator& coordinator, const Source& source,
                                                  const HistogramOptions& options = {},
                                                  const PassOptions& wanted = {});

/// Returns the number of passes of histogram() over the source: 2 if it must find the range first,
/// else 1. Throws Error(usage) for invalid options.
OOC_API std::size_t histogram_passes(const Source& source, const HistogramOptions& options);
/// Like the function above, for any source of that type that has elements.
OOC_API std::size_t histogram_passes(ElementType type, const HistogramOptions& options);

/// Returns the plan of histogram() for these arguments: how it would read and why, and the number
/// of bytes. Throws the errors that histogram() would throw before it reads.
OOC_API Stats dry_run_histogram(const Options& machine, DeviceKind device, const Source& source,
                                const HistogramOptions& options = {},
                                const PassOptions& wanted = {});

namespace detail::binning {
struct Bins;
}

/// The counting of histogram() as an operator, for a known element type, so that it can be folded
/// together with other operators in one pass.
template <IsElement T>
class OOC_API CountBins {
 public:
  using Input = T;                                        ///< the element type of the source
  using Partial = OpaquePartial;                          ///< the counts of a lane, or of all
  static constexpr Merge merge_order = Merge::unordered;  ///< Counts do not depend on the order.
  static constexpr bool same_bits_everywhere = true;      ///< See FoldOperator.
  static constexpr std::string_view partial_name = "ooc.histogram/1";  ///< See SavableFold.

  /// Throws Error(usage) for invalid options, and if they do not determine the range: an operator
  /// cannot read the data twice.
  explicit CountBins(const HistogramOptions& options = {});

  /// Makes counters, all 0, for the stream's device.
  Partial make_partial(Stream& stream) const;
  /// Counts the elements of a chunk.
  void consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const;
  /// Copies the counts to the host.
  void finish(Stream& stream, std::span<Partial> partials) const;
  /// Adds the counts of `part` to those of `total`.
  void merge(Partial& total, Partial& part) const;
  /// Returns the histogram of all counts.
  Histogram result(Partial total) const;

  /// Returns the element type and the bins, as text.
  std::string question() const;
  /// Appends the counts of `total` to `out`.
  void save(const Partial& total, std::vector<std::byte>& out) const;
  /// Restores the counts that save() wrote. Throws Error(bad_input) for other bytes.
  void load(std::span<const std::byte> in, Partial& total) const;
  /// Returns the memory of the bins: see FoldOperator.
  HostBytes host_bytes() const;
  /// Returns the number of elements of a total.
  std::uint64_t records_in(const Partial& total) const;

 private:
  std::shared_ptr<const detail::binning::Bins> bins_;  // shared by all copies
};

/// Computes histogram() of a section of a source, or of a whole one, as a PartialResult (see
/// collect()). The options must determine the range, because a section does not know the range of
/// all data: collect_bins() finds it first. A section begins and ends at multiples of 65,536
/// elements, or at the end of the data. Throws Error(usage) for other options, and as collect()
/// does.
[[nodiscard]] OOC_API Result<PartialResult<Histogram>> collect_histogram(
    Coordinator& coordinator, const Source& section, const HistogramOptions& options,
    const PassOptions& wanted = {});

/// Restores such a part from the bytes of PartialResult::save(). Throws Error as load_part() does.
[[nodiscard]] OOC_API PartialResult<Histogram> load_histogram(ElementType type,
                                                              const HistogramOptions& options,
                                                              std::span<const std::byte> saved);

/// The bins that a pass over all data has chosen for histogram().
struct ChosenBins {
  HistogramOptions options;  ///< as given, with the range and the number of bins
  std::uint64_t below = 0;   ///< elements that are -Inf
  std::uint64_t above = 0;   ///< elements that are +Inf
  std::uint64_t nan = 0;     ///< elements that are NaN
};

/// Does the first pass of histogram() over a section: see collect_histogram(). When the parts of
/// all sections are merged, the result has the options for collect_histogram():
///
///     auto [bins, stats] = ooc::collect_bins(coordinator, ooc::shard(prices, 0, 2), {});
///     bins.merge(ooc::collect_bins(coordinator, ooc::shard(prices, 1, 2), {}).value);
///     const ooc::ChosenBins chosen = std::move(bins).result();
///     ooc::collect_histogram(coordinator, ooc::shard(prices, 0, 2), chosen.options);
///
/// Throws Error as collect() does, and `usage` if the options determine the bins (see
/// histogram_passes()). result() throws Error(bad_input) as histogram() does.
[[nodiscard]] OOC_API Result<PartialResult<ChosenBins>> collect_bins(
    Coordinator& coordinator, const Source& section, const HistogramOptions& options,
    const PassOptions& wanted = {});

/// Restores such a part from the bytes of PartialResult::save(). Throws Error as load_part() does.
[[nodiscard]] OOC_API PartialResult<ChosenBins> load_bins(ElementType type,
                                                          const HistogramOptions& options,
                                                          std::span<const std::byte> saved);

/// Throws Error(input_changed) unless a histogram of all data has as many elements outside of its
/// bins as the pass that has chosen them found.
OOC_API void require_unchanged(const ChosenBins& chosen, const Histogram& histogram);

/// Verifies a result of histogram() on a whole source, given the same options. Reads the source
/// once more, through the page cache and on the CPU, finds each value's bin by comparing it with
/// the edges, and shares no other code with histogram(). All counts must be equal, and edges equal
/// to within their rounding; if not, throws Error(verify), which names the first difference. Throws
/// also as a pass does, and Error(interrupted) if it is stopped. Uses Options::streams or
/// Options::threads threads, or by default one for each core.
OOC_API void verify_histogram(Coordinator& coordinator, const Source& source,
                              const HistogramOptions& options, const Histogram& found,
                              const PassOptions& wanted = {});

/// The result of summarize().
struct Summary {
  Statistics statistics;  ///< as reduce() returns them
  Histogram histogram;    ///< as histogram() returns it
};

/// Options of summarize().
struct SummaryOptions {
  ReduceOptions reduce{};        ///< options of reduce()
  HistogramOptions histogram{};  ///< options of histogram()
};

/// Computes reduce() and histogram() of a source together, in one pass. If the range of the bins is
/// not known, another pass finds it first, as in histogram(). If stopped early, both results cover
/// the same part of the source. Throws Error as reduce() and histogram() do.
///
///     const auto [found, stats] = ooc::summarize(coordinator, source);
///     std::cout << found.histogram.counts.size() << " bins, sum "
///               << to_string(found.statistics.sum) << '\n';
[[nodiscard]] OOC_API Result<Summary> summarize(Coordinator& coordinator, const Source& source,
                                                const SummaryOptions& options = {},
                                                const PassOptions& wanted = {});

/// Computes collect_reduce() and collect_histogram() of a section together, in one pass. Throws
/// Error as these do.
OOC_API Result<std::tuple<PartialResult<Statistics>, PartialResult<Histogram>>> collect_summary(
    Coordinator& coordinator, const Source& section, const SummaryOptions& options,
    const PassOptions& wanted = {});

/// Verifies both results: calls verify_reduce(), then verify_histogram(), and throws as these do.
OOC_API void verify_summary(Coordinator& coordinator, const Source& source,
                            const SummaryOptions& options, const Summary& found,
                            const PassOptions& wanted = {});

}  // namespace ooc
