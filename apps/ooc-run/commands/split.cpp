#include <fmt/core.h>
#include <ooc/split_by.hpp>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "cli/type_words.hpp"
#include "commands/commands.hpp"
#include "dataset/type_doubt.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

using Counts = std::vector<std::uint64_t>;

/// Returns the names of the first and the last output.
std::string describe_files(const std::vector<ooc::Target>& targets) {
  const std::string first = printable(targets.front().path.string());
  if (targets.size() == 1) return first;
  return fmt::format("{} to {}", first, printable(targets.back().path.string()));
}

/// Returns a line for each output or, if there are many, one for all.
std::string describe_counts(const std::vector<ooc::Target>& targets, const Counts& counts) {
  constexpr std::size_t most_lines = 16;
  if (targets.size() > most_lines) {
    const auto [least, most] = std::ranges::minmax(counts);
    return fmt::format("records in a file: {} to {}\n", group_digits(std::to_string(least)),
                       group_digits(std::to_string(most)));
  }
  std::string lines;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    lines += fmt::format("{}: {}\n", printable(targets[i].path.string()),
                         format_count(counts[i], "record"));
  }
  return lines;
}

Json describe_outputs(const std::vector<ooc::Target>& targets, const Counts& counts) {
  Json outputs = Json::array();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    outputs.push_back({{"path", targets[i].path.string()}, {"count", counts[i]}});
  }
  return outputs;
}

}  // namespace

Outcome run(const SplitRequest& request, const Interrupt& interrupt) {
  const RunSettings& settings = request.run;
  const auto& [rule, targets] = request.split;
  const bool by_value = std::holds_alternative<ooc::SplitByValue>(rule);
  const ooc::Source source = by_value ? open_numbers(settings) : open_records(settings);
  const std::string files = format_count(targets.size(), "file");
  if (settings.explain) {
    const auto dry_run = [&](ooc::DeviceKind device) {
      return ooc::dry_run_split_by(settings.options, device, rule, source, targets,
                                   wanted_of(settings));
    };
    const Explanation explanation = explain_run(settings, split_task(source), dry_run);
    return explain(
        "split", settings, source, explanation,
        remarks_on(explanation, settings, fmt::format("{}: {}", files, describe_files(targets))));
  }
  Session session(settings, interrupt, split_task(source));
  session.warn(type_doubt(source, settings.format));
  const auto [counts, stats] =
      ooc::split_by(session.coordinator(), rule, source, targets, session.pass());
  const std::uint64_t count = std::reduce(counts.begin(), counts.end(), std::uint64_t{0});
  const std::string wrote =
      fmt::format("wrote {}, {}: {}, {}\n", files, describe_files(targets),
                  format_count(count, "record"), format_bytes(source.bytes()));
  return session.report_files(
      {.command = "split",
       .result = {{"count", count}, {"outputs", describe_outputs(targets, counts)}},
       .text = wrote + describe_counts(targets, counts),
       .writes = true},
      source, describe_files(targets), stats);
}

}  // namespace ooc_run
