#include "parts/merge_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ooc/stats.hpp>
#include <set>
#include <utility>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "result/report.hpp"

namespace ooc_run {

PartFacts facts_of_all(const std::vector<ShardPart>& parts) {
  PartFacts all = parts.front().facts;
  all.shard.reset();
  all.seconds = 0;
  all.bytes = 0;
  std::set<std::string> devices;
  for (const ShardPart& part : parts) {
    all.seconds += part.facts.seconds;
    all.bytes += part.facts.bytes;
    devices.insert(part.facts.device);
  }
  all.device = fmt::format("{}", fmt::join(devices, ", "));
  return all;
}

std::vector<std::string> headings_of(const PartFacts& facts) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= facts.heading.size();) {
    const std::size_t end = std::min(facts.heading.find('\n', begin), facts.heading.size());
    lines.push_back(printable(facts.heading.substr(begin, end - begin)));
    begin = end + 1;
  }
  return lines;
}

Json describe_merge(const std::vector<ShardPart>& parts, double seconds) {
  ooc::Stats stats;
  stats.layout.device = "cpu";
  stats.timing.seconds = seconds;
  Json run = describe_run(stats, false, {}, {});
  Json shards = Json::array();
  for (const ShardPart& part : parts) {
    shards.push_back({{"part", part.path},
                      {"covers", describe_covers(part.file.covers)},
                      {"device", part.facts.device},
                      {"seconds", part.facts.seconds},
                      {"bytes", part.facts.bytes}});
  }
  run["shards"] = std::move(shards);
  return run;
}

std::string describe_parts(const std::vector<ShardPart>& parts) {
  const PartFacts all = facts_of_all(parts);
  return fmt::format("{}: {}, computed in {} together", format_count(parts.size(), "part"),
                     format_decimal_bytes(static_cast<double>(all.bytes)),
                     format_seconds(all.seconds));
}

}  // namespace ooc_run
