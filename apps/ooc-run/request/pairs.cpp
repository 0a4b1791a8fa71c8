#include "request/pairs.hpp"

#include <fmt/core.h>

#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/failure.hpp"
#include "cli/sizes.hpp"
#include "request/bins.hpp"

namespace ooc_run {
namespace {

std::uint64_t parse_bin_count(std::string_view text) {
  const std::uint64_t bins = parse_count(text);
  if (bins != 0 && bins <= ooc::max_bins) return bins;
  refuse_usage(fmt::format("bins must be 1 to {}", ooc::max_bins), {});
}

/// Parses a list of one value for both axes, or of two.
template <class Parse>
auto parse_both(std::string_view text, const Parse& parse) {
  const auto values = parse_list(text, parse);
  if (values.size() <= 2) return std::pair{values.front(), values.back()};
  refuse_usage("pairs have two axes", "one value is for both, two are for x and for y");
}

std::pair<std::uint64_t, std::uint64_t> parse_cells(std::string_view text) {
  return parse_both(text, parse_bin_count);
}

using Range = std::optional<ooc::HistogramOptions::Range>;

std::pair<Range, Range> parse_ranges(std::string_view text) {
  return parse_both(text, [](std::string_view range) {
    return range.empty() ? Range{} : Range{parse_range(range)};
  });
}

std::pair<std::string, std::string> parse_axes(std::string_view text) {
  const std::vector<std::string> names =
      parse_list(text, [](std::string_view name) { return std::string(name); });
  if (names.size() == 2 && !names[0].empty() && !names[1].empty()) return {names[0], names[1]};
  refuse_usage("pairs have two axes", "--axes 0,1 or --axes price,size");
}

}  // namespace

PairSettings read_pairs(const Arguments& arguments) {
  PairSettings pairs;
  if (const auto axes = arguments.get("axes", parse_axes)) {
    std::tie(pairs.x.column, pairs.y.column) = *axes;
  }
  if (const auto cells = arguments.get("cells", parse_cells)) {
    std::tie(pairs.x.bins.bins, pairs.y.bins.bins) = *cells;
  }
  if (const auto ranges = arguments.get("ranges", parse_ranges)) {
    std::tie(pairs.x.bins.range, pairs.y.bins.range) = *ranges;
  }
  pairs.columns = arguments.get("columns", positive_count);
  return pairs;
}

}  // namespace ooc_run
