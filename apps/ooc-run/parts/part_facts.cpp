#include "parts/part_facts.hpp"

#include <fmt/core.h>

#include <ooc/error.hpp>

#include "cli/sizes.hpp"

namespace ooc_run {

std::string to_text(const PartFacts& facts) {
  Json json{{"heading", facts.heading},
            {"input", facts.input},
            {"device", facts.device},
            {"seconds", facts.seconds},
            {"bytes", facts.bytes}};
  if (facts.shard) json["shard"] = {facts.shard->first, facts.shard->second};
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

PartFacts facts_in(const ooc::PartFile& file) {
  try {
    const Json json = Json::parse(file.about);
    PartFacts facts{.heading = json.at("heading").get<std::string>(),
                    .input = json.at("input"),
                    .device = json.at("device").get<std::string>(),
                    .seconds = json.at("seconds").get<double>(),
                    .bytes = json.at("bytes").get<std::uint64_t>()};
    if (json.contains("shard")) {
      facts.shard = json.at("shard").get<std::pair<std::uint64_t, std::uint64_t>>();
    }
    return facts;
  } catch (const Json::exception& error) {
    throw ooc::Error(ooc::ErrorKind::bad_input, "does not say of what it is a part",
                     {.why = error.what(), .hint = "ooc-run merges what ooc-run has written"});
  }
}

Json describe_covers(std::span<const ooc::RecordRange> covers) {
  Json ranges = Json::array();
  for (const ooc::RecordRange& range : covers) ranges.push_back({range.first, range.end()});
  return ranges;
}

std::string describe_range(const ooc::RecordRange& range) {
  return fmt::format("the values {} to {}", group_digits(std::to_string(range.first)),
                     group_digits(std::to_string(range.end())));
}

}  // namespace ooc_run
