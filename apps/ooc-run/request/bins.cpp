#include "request/bins.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include "cli/failure.hpp"
#include "cli/options.hpp"
#include "cli/sizes.hpp"

namespace ooc_run {
namespace {

ooc::BinCount parse_bins(std::string_view text) {
  constexpr std::array rules{ooc::BinRule::sqrt, ooc::BinRule::sturges, ooc::BinRule::scott,
                             ooc::BinRule::fd, ooc::BinRule::automatic};
  if (std::ranges::count(bin_rule_names, text) != 0) return choose(bin_rule_names, rules, text);
  constexpr const char* hint = "a number, or one of the rules sqrt, sturges, scott, fd and auto";
  const auto is_letter = [](char each) { return std::isalpha(static_cast<unsigned char>(each)); };
  if (!text.empty() && is_letter(text.front()))
    refuse_usage("is not a whole number or a known rule", hint);
  const std::uint64_t bins = parse_count(text);
  if (bins == 0 || bins > ooc::max_bins) {
    refuse_usage(fmt::format("bins must be 1 to {}", ooc::max_bins), {});
  }
  return bins;
}

double parse_finite(std::string_view text) {
  const double value = parse_real(text);
  if (std::isinf(value))
    refuse_usage("an edge must be finite", "infinities count as below and above");
  return value;
}

}  // namespace

ooc::HistogramOptions::Range parse_range(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse_usage("a range has two ends", "LO:HI, as -1:2.5");
  const std::string_view lower = text.substr(0, colon), upper = text.substr(colon + 1);
  const ooc::HistogramOptions::Range range{parse_finite(lower), parse_finite(upper)};
  if (range.lower > range.upper) {
    refuse_usage("the lower end is above the upper",
                 fmt::format("did you mean {}:{}?", upper, lower));
  }
  return range;
}

namespace {

std::vector<double> parse_edges(std::string_view text) {
  std::vector<double> edges = parse_list(text, parse_finite);
  if (edges.size() < 2) refuse_usage("a bin has two edges", "--edges 0,1,10 makes two bins");
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (edges[i - 1] > edges[i])
      refuse_usage("edges must not fall", "--edges 0,1,10 makes two bins");
  }
  return edges;
}

}  // namespace

ooc::HistogramOptions read_bins(const Arguments& arguments, std::string_view number) {
  ooc::HistogramOptions options;
  options.edges = arguments.get("edges", parse_edges).value_or(options.edges);
  options.bins = arguments.get(number, parse_bins).value_or(options.bins);
  options.range = arguments.get("range", parse_range);
  options.logarithmic = arguments.has("log-bins");
  return options;
}

std::optional<BinTable> read_table(const Arguments& arguments) {
  if (!arguments.has("tsv")) return {};
  return BinTable{.density = arguments.has("density"), .cumulative = arguments.has("cumulative")};
}

}  // namespace ooc_run
