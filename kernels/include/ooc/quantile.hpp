#pragma once

#include <ooc/collect.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/reduce.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

namespace ooc {

inline constexpr std::size_t max_quantiles = 1000;  ///< most quantiles at once

/// How a quantile follows from the sorted values: the methods of numpy.quantile, under its names.
enum class QuantileMethod {
  linear,                     ///< between the two values beside (n - 1) q
  lower,                      ///< the lower one of these, an element of the data
  higher,                     ///< the upper one, an element of the data
  nearest,                    ///< the nearer one, an element of the data
  midpoint,                   ///< halfway between both
  inverted_cdf,               ///< of Hyndman and Fan's types, 1: an element of the data
  averaged_inverted_cdf,      ///< type 2
  interpolated_inverted_cdf,  ///< type 4
  hazen,                      ///< type 5
  weibull,                    ///< type 6
  median_unbiased,            ///< type 8
  normal_unbiased             ///< type 9
};

/// Options of quantile().
struct QuantileOptions {
  std::vector<double> q{0, 0.25, 0.5, 0.75, 1};    ///< 1 to max_quantiles numbers from 0 to 1
  QuantileMethod method = QuantileMethod::linear;  ///< how they follow from the values
  NanPolicy nan = NanPolicy::propagate;            ///< the treatment of NaN
};

/// One quantile. There are no values if there are no elements but NaN that are omitted.
struct Quantile {
  double q = 0;  ///< as in the options
  /// An exact integer if the method takes an element of integers; else a double.
  Scalar value{};
  Scalar lower{};  ///< the lower one of the elements that the value is computed from
  Scalar upper{};  ///< the upper one, perhaps the same
};

/// The result of quantile().
struct Quantiles {
  std::vector<Quantile> quantiles;  ///< in the order of the options
  std::uint64_t count = 0;          ///< all elements
  std::uint64_t nan = 0;            ///< elements that are NaN
};

/// Finds quantiles exactly, as `numpy.quantile(x.astype(float64), q, method=method)` does, to the
/// bit, for every element type; -0 comes before +0. If any element is NaN and none is omitted, all
/// are NaN. Infinities follow NumPy's arithmetic: interpolation between two of them is NaN.
///
/// Each pass counts elements by some bits of their order, and the next one looks only where wanted
/// elements lie. quantile_passes() is the number of passes. On a GPU, later passes read only data
/// that did not fit its memory (see Resident). `wanted` applies to each pass.
///
///     const auto [found, stats] = ooc::quantile(coordinator, source, {.q = {0.5, 0.99}});
///     std::cout << to_string(found.quantiles.front().value) << '\n';
///
/// If it is stopped early, the result has no quantiles. Throws Error: `usage` for invalid options;
/// `input_changed` if passes find other values; and as fold() does.
[[nodiscard]] OOC_API Result<Quantiles> quantile(Coordinator& coordinator, const Source& source,
                                                 const QuantileOptions& options = {},
                                                 const PassOptions& wanted = {});

/// Computes reduce() of a source in the first pass of quantile(). Throws Error as these do.
///
///     const auto [found, stats] = ooc::reduce_with_quantiles(coordinator, source);
///     const auto& [statistics, quantiles] = found;
[[nodiscard]] OOC_API Result<std::tuple<Statistics, Quantiles>> reduce_with_quantiles(
    Coordinator& coordinator, const Source& source, const ReduceOptions& reduce = {},
    const QuantileOptions& options = {}, const PassOptions& wanted = {});

/// Returns the number of passes over elements of that type: 1 for types of one or two bytes, else
/// 2 or more, depending on the number of quantiles. Throws Error(usage) for invalid options.
OOC_API std::size_t quantile_passes(ElementType type, const QuantileOptions& options = {});

/// Returns the plan of quantile() for these arguments: how it would read and why, and the number
/// of bytes. Throws the errors that quantile() would throw before it reads.
OOC_API Stats dry_run_quantile(const Options& machine, DeviceKind device, const Source& source,
                               const QuantileOptions& options = {}, const PassOptions& wanted = {});

/// The counts of one pass of a search for quantiles, for QuantileSearch::take().
struct QuantileCounts {
  std::vector<std::uint64_t> counts;  ///< of elements in each bin
  std::uint64_t nan = 0;              ///< elements that are NaN
  std::uint64_t count = 0;            ///< all elements
};

namespace detail::quantiles {
class Search;
}

/// The passes of quantile(), one by one, for sections of the data (see collect()):
///
///     ooc::QuantileSearch search(prices.element(), {.q = {0.5}});
///     while (!search.is_complete()) {
///       auto [all, stats] = search.collect(coordinator, ooc::shard(prices, 0, 2));
///       all.merge(search.collect(coordinator, ooc::shard(prices, 1, 2)).value);
///       search.take(std::move(all).result());
///     }
///     const ooc::Quantiles found = search.result();
///
/// Threads: one at a time.
class OOC_API QuantileSearch {
 public:
  /// Throws Error(usage) for invalid options.
  QuantileSearch(ElementType type, const QuantileOptions& options);
  ~QuantileSearch();
  QuantileSearch(QuantileSearch&& other) noexcept;             ///< moves the search
  QuantileSearch& operator=(QuantileSearch&& other) noexcept;  ///< moves the search

  /// True if no pass is left.
  bool is_complete() const noexcept;

  /// Does the next pass over a section. Throws Error as collect() does.
  [[nodiscard]] Result<PartialResult<QuantileCounts>> collect(Coordinator& coordinator,
                                                              const Source& section,
                                                              const PassOptions& wanted = {}) const;

  /// Restores a part of the next pass from the bytes of PartialResult::save(). Throws Error as
  /// load_part() does.
  [[nodiscard]] PartialResult<QuantileCounts> load(std::span<const std::byte> saved) const;

  /// Ends the pass, with the counts of all elements. Throws Error: `usage` if they are of another
  /// pass; `input_changed` if they are of other values than those of the passes before.
  void take(const QuantileCounts& counts);

  /// Returns the quantiles. Call it when the search is complete.
  Quantiles result() const;

 private:
  std::unique_ptr<detail::quantiles::Search> search_;
};

/// Verifies a result of quantile() on a whole source, given the same options. Reads the source once
/// more, through the page cache and on the CPU, counts what is below and what is equal to each
/// element of the result, and shares no other code with quantile(). Throws Error(verify), which
/// names the first difference; also as a pass does, and Error(interrupted) if it is stopped.
OOC_API void verify_quantile(Coordinator& coordinator, const Source& source,
                             const QuantileOptions& options, const Quantiles& found,
                             const PassOptions& wanted = {});

}  // namespace ooc
