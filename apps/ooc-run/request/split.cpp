#include "request/split.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <ooc/detail/device/decoder.hpp>
#include <ooc/error.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "cli/failure.hpp"
#include "cli/sizes.hpp"
#include "request/output_file.hpp"

namespace ooc_run {
namespace {

constexpr const char* split_example = "ooc-run split FILE -o 'OUT-{}.npy' --shuffle 1 --into 8";
constexpr std::string_view braces = "{}";

ooc::Scalar parse_edge(std::string_view text) {
  const ooc::Scalar value = parse_scalar(text);
  if (std::isinf(value.value())) {
    refuse_usage("an edge must be finite",
                 "values below the first edge and above the last have "
                 "outputs, too");
  }
  return value;
}

ooc::SplitByValue parse_split_edges(std::string_view text) {
  return {parse_list(text, parse_edge)};
}

std::uint64_t parse_outputs(std::string_view text) {
  const std::uint64_t outputs = positive_count(text);
  if (outputs > ooc::detail::most_groups) {
    refuse_usage(fmt::format("must be at most {}", ooc::detail::most_groups));
  }
  return outputs;
}

ooc::SplitRule read_rule(const Arguments& arguments) {
  if (auto edges = arguments.get("edges", parse_split_edges)) return *std::move(edges);
  const auto as_text = [](const std::string& text) { return text; };
  if (auto column = arguments.get("by", as_text)) return ooc::SplitByColumn{*std::move(column)};
  if (const auto seed = arguments.get("shuffle", parse_count)) return ooc::SplitAtRandom{*seed};
  refuse_usage("by what? Neither --edges nor --by nor --shuffle", split_example);
}

std::size_t outputs_of(const ooc::SplitRule& rule, const Arguments& arguments) {
  if (const auto* const by_value = std::get_if<ooc::SplitByValue>(&rule)) {
    const std::size_t outputs = by_value->edges.size() + 1;
    if (outputs <= ooc::detail::most_groups) return outputs;
    refuse_usage(fmt::format("--edges makes {} outputs, of which there may be {}", outputs,
                             ooc::detail::most_groups));
  }
  return arguments.get("into", parse_outputs).value();
}

/// Returns the path of each output: the number replaces the braces. Numbers have as many digits, so
/// that names sort in their order.
std::vector<ooc::Target> targets_of(const std::string& pattern, std::size_t outputs, bool replace) {
  const std::size_t at = pattern.find(braces);
  if (at == std::string::npos || pattern.find(braces, at + braces.size()) != std::string::npos) {
    const bool has_none = at == std::string::npos;
    refuse_usage(
        fmt::format("-o {}: {}", pattern,
                    has_none ? "has no {} for the number of the output" : "has more than one {}"),
        split_example);
  }
  const std::size_t digits = std::to_string(outputs - 1).size();
  std::vector<ooc::Target> targets;
  for (std::size_t i = 0; i < outputs; ++i) {
    std::string path = pattern;
    path.replace(at, braces.size(), fmt::format("{:0{}}", i, digits));
    targets.push_back({.path = parse_output(path), .replace = replace});
  }
  return targets;
}

}  // namespace

SplitSettings read_split_settings(const Arguments& arguments) {
  const std::string pattern = read_output_path(arguments, split_example, 1).string();
  ooc::SplitRule rule = read_rule(arguments);
  const std::size_t outputs = outputs_of(rule, arguments);
  return {std::move(rule), targets_of(pattern, outputs, arguments.has("force"))};
}

}  // namespace ooc_run
