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

namespace {

ooc::Error bad_part(const std::string& why) {
  return {ooc::ErrorKind::bad_input,
          "does not say of what it is a part",
          {.why = why, .hint = "ooc-run merges what ooc-run has written"}};
}

std::uint64_t integer_in(const Json& json) {
  if (!json.is_number_unsigned()) throw bad_part(json.dump() + " is no whole number");
  return json.get<std::uint64_t>();
}

/// Throws Error unless the JSON can be printed like the result of describe_input().
void require_input(const Json& json) {
  if (json.is_structured()) {
    for (const Json& each : json) require_input(each);
  } else if (json.is_string() && json.get_ref<const std::string&>().starts_with('\0')) {
    throw bad_part("a text of it begins with NUL");  // see json_integer()
  }
}

}  // namespace

PartFacts facts_in(const ooc::PartFile& file) {
  try {
    const Json json = Json::parse(file.about);
    require_input(json);
    if (!json.at("input").is_object()) throw bad_part("its input is no object");
    PartFacts facts{.heading = json.at("heading").get<std::string>(),
                    .input = json.at("input"),
                    .device = json.at("device").get<std::string>(),
                    .seconds = json.at("seconds").get<double>(),
                    .bytes = integer_in(json.at("bytes"))};
    if (!(facts.seconds >= 0)) throw bad_part("it took less than no time");
    if (json.contains("shard")) {
      const Json& shard = json.at("shard");
      facts.shard = {integer_in(shard.at(0)), integer_in(shard.at(1))};
      if (facts.shard->first >= facts.shard->second || shard.size() != 2) {
        throw bad_part("there is no shard " + shard.dump());
      }
    }
    return facts;
  } catch (const Json::exception& error) {
    throw bad_part(error.what());
  }
}

Json describe_covers(std::span<const ooc::RecordRange> covers) {
  Json ranges = Json::array();
  for (const ooc::RecordRange& range : covers) ranges.push_back({range.first, range.end()});
  return ranges;
}

std::string describe_next_round(std::string_view command, std::string_view part) {
  return fmt::format("ooc-run {} FILE --after {} --shard I/N -o I.part, with the same options",
                     command, part);
}

std::string describe_range(const ooc::RecordRange& range, std::string_view records) {
  return fmt::format("the {} {} to {}", records, group_digits(std::to_string(range.first)),
                     group_digits(std::to_string(range.end())));
}

}  // namespace ooc_run
