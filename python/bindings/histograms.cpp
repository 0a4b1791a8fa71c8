#include <nanobind/stl/pair.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <ooc/error.hpp>
#include <ooc/histogram.hpp>
#include <ooc/histogram_2d.hpp>
#include <ooc/reduce.hpp>
#include <ooc/weighted_histogram.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "cli/options.hpp"
#include "run.hpp"
#include "run_on.hpp"

namespace ooc_python {
namespace {

ooc::BinRule rule_of(const std::string& name) {
  constexpr std::array rules{ooc::BinRule::sqrt, ooc::BinRule::sturges, ooc::BinRule::scott,
                             ooc::BinRule::fd, ooc::BinRule::automatic};
  const auto found = std::ranges::find(ooc_run::bin_rule_names, name);
  if (found == ooc_run::bin_rule_names.end()) {
    throw ooc::Error(ooc::ErrorKind::usage, "bins='" + name + "' is no rule",
                     {.hint = "the rules are sqrt, sturges, scott, fd and auto"});
  }
  return rules[static_cast<std::size_t>(found - ooc_run::bin_rule_names.begin())];
}

/// `bins`: a number, the name of a rule, or edges, with which `range` is not used.
ooc::HistogramOptions bins_of(const nb::object& bins, const nb::object& range, bool logarithmic) {
  ooc::HistogramOptions options{.logarithmic = logarithmic};
  if (!range.is_none()) {
    options.range = {nb::cast<double>(range[0]), nb::cast<double>(range[1])};
  }
  if (nb::isinstance<nb::int_>(bins)) {
    options.bins = nb::cast<std::size_t>(bins);
  } else if (nb::isinstance<nb::str>(bins)) {
    options.bins = rule_of(nb::cast<std::string>(bins));
  } else {
    options.edges = nb::cast<std::vector<double>>(bins);
    if (options.edges.empty()) {  // which the library would take for no edges given
      throw ooc::Error(ooc::ErrorKind::usage, "bins=[] has no edges");
    }
  }
  return options;
}

/// Gives bins the range that they have in NumPy where the library has another one: of no elements
/// and of bytes. Returns the statistics of the pass that looks for the extremes of bytes.
std::optional<ooc::Stats> set_range(ooc::Coordinator& coordinator, const ooc::Source& source,
                                    ooc::HistogramOptions& options, const ooc::PassOptions& pass) {
  const bool is_given = options.range || !options.edges.empty();
  if (is_given || options.bins.rule() || options.logarithmic) return {};
  if (source.is_empty()) {
    options.range = {0, 1};
    return {};
  }
  if (ooc::size_of(source.element()) != 1) return {};
  ooc::histogram_passes(source, options);  // throws for other mistakes before it reads
  if (source.is_produced()) {
    throw ooc::Error(ooc::ErrorKind::usage,
                     source.name() + ": a histogram without a range reads it twice",
                     {.why = "it can be read once; the first pass looks for the range",
                      .remedies = {{ooc::RemedyAction::set, "HistogramOptions::range"}}});
  }
  auto [found, stats] = ooc::reduce(coordinator, source, {}, pass);
  options.range = {found.min.value(), found.max.value()};
  return std::move(stats);
}

nb::tuple histogram(const Input& input, const nb::object& bins, const nb::object& range,
                    bool logarithmic, const Machine& machine, const nb::object& progress) {
  ooc::HistogramOptions options = bins_of(bins, range, logarithmic);
  auto [found, stats] = run_on(
      input, machine, progress, [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) {
        std::optional<ooc::Stats> both = set_range(coordinator, *input.source, options, pass);
        auto counted = ooc::histogram(coordinator, *input.source, options, pass);
        if (both) counted.stats = *both += counted.stats;
        return counted;
      });
  return nb::make_tuple(bytes_of(found.counts), bytes_of(found.edges), found.below, found.above,
                        found.nan, found.count, RunStats{std::move(stats)});
}

/// Adds the weights of the elements in bins.
nb::tuple weighted_histogram(const Input& input, const Input& weights, const nb::object& bins,
                             const nb::object& range, bool logarithmic, const Machine& machine,
                             const nb::object& progress) {
  ooc::HistogramOptions options = bins_of(bins, range, logarithmic);
  auto [found, stats] = run_on(
      input, machine, progress, [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) {
        std::optional<ooc::Stats> both = set_range(coordinator, *input.source, options, pass);
        auto added =
            ooc::weighted_histogram(coordinator, *input.source, *weights.source, options, pass);
        if (both) added.stats = *both += added.stats;
        return added;
      });
  const ooc::Histogram& counted = found.histogram;
  nb::list sums;
  for (const ooc::Scalar& sum : found.sums) sums.append(number(sum));
  return nb::make_tuple(
      sums, nb::make_tuple(number(found.sum_below), number(found.sum_above), number(found.sum_nan)),
      bytes_of(counted.counts), bytes_of(counted.edges), counted.below, counted.above, counted.nan,
      counted.count, RunStats{std::move(stats)});
}

/// Counts pairs of the elements of two inputs or, if there are columns, of these of one.
nb::tuple histogram2d(const Input& x, const Input& y,
                      const std::pair<std::string, std::string>& columns, const nb::object& x_bins,
                      const nb::object& y_bins, const nb::object& x_range,
                      const nb::object& y_range, const Machine& machine,
                      const nb::object& progress) {
  ooc::HistogramOptions x_options = bins_of(x_bins, x_range, false);
  ooc::HistogramOptions y_options = bins_of(y_bins, y_range, false);
  for (ooc::HistogramOptions* const options : {&x_options, &y_options}) {
    const bool is_given = options->range || !options->edges.empty();
    if (x.source->is_empty() && !is_given) options->range = {0, 1};  // as in NumPy
  }
  auto [found, stats] = run_on(
      x, machine, progress, [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) {
        return ooc::histogram_2d(coordinator, {*x.source, columns.first, x_options},
                                 {*y.source, columns.second, y_options}, pass);
      });
  return nb::make_tuple(bytes_of(found.counts), bytes_of(found.x_edges), bytes_of(found.y_edges),
                        found.outside, found.nan, found.count, RunStats{std::move(stats)});
}

}  // namespace

void bind_histograms(nb::module_& module) {
  module.def("histogram", histogram, nb::arg("input"), nb::arg("bins"), nb::arg("range").none(),
             nb::arg("logarithmic"), nb::arg("machine"), nb::arg("progress").none(),
             nb::sig("def histogram(input: Input, bins: int | str | Sequence[float], range: "
                     "tuple[float, float] | None, logarithmic: bool, machine: Machine, progress: "
                     "object | None) -> tuple[bytes, bytes, int, int, int, int, RunStats]"));
  module.def(
      "weighted_histogram", weighted_histogram, nb::arg("input"), nb::arg("weights"),
      nb::arg("bins"), nb::arg("range").none(), nb::arg("logarithmic"), nb::arg("machine"),
      nb::arg("progress").none(),
      nb::sig("def weighted_histogram(input: Input, weights: Input, bins: int | str | "
              "Sequence[float], range: tuple[float, float] | None, logarithmic: bool, machine: "
              "Machine, progress: object | None) -> tuple[list[Any], tuple[Any, Any, Any], bytes, "
              "bytes, int, int, int, int, RunStats]"));
  module.def(
      "histogram2d", histogram2d, nb::arg("x"), nb::arg("y"), nb::arg("columns"), nb::arg("x_bins"),
      nb::arg("y_bins"), nb::arg("x_range").none(), nb::arg("y_range").none(), nb::arg("machine"),
      nb::arg("progress").none(),
      nb::sig(
          "def histogram2d(x: Input, y: Input, columns: tuple[str, str], x_bins: int | str | "
          "Sequence[float], y_bins: int | str | Sequence[float], x_range: tuple[float, float] | "
          "None, y_range: tuple[float, float] | None, machine: Machine, progress: object | None) "
          "-> tuple[bytes, bytes, bytes, int, int, int, RunStats]"));
}

}  // namespace ooc_python
