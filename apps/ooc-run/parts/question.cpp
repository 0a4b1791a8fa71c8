#include "parts/question.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ooc/error.hpp>
#include <utility>

#include "parts/part_facts.hpp"
#include "parts/questions.hpp"
#include "parts/settings_json.hpp"

namespace ooc_run {
namespace {

AskedData::Stored stored_in(const Json& json) {
  AskedData::Stored stored{.type = ooc::parse_dtype(json.at("dtype").get<std::string>())};
  if (json.contains("array")) stored.array = json.at("array").get<std::string>();
  if (json.contains("places")) {
    for (const Json& place : json.at("places")) stored.places.push_back(integer_in_text(place));
  }
  return stored;
}

void add_places(Json& json, const AskedData::Stored& stored) {
  if (!stored.array.empty()) json["array"] = stored.array;
  for (const std::uint64_t place : stored.places) json["places"].push_back(std::to_string(place));
}

AskedData data_in(const Json& json) {
  AskedData data{.offset = integer_in_text(json.at("offset"))};
  if (json.contains("skip")) data.skip = integer_in_text(json.at("skip"));
  if (json.contains("count")) data.count = integer_in_text(json.at("count"));
  data.stored.push_back(stored_in(json));
  if (json.contains("second")) data.stored.push_back(stored_in(json.at("second")));
  return data;
}

Asked made_of(const Json& json) {
  const std::string command = json.at("command").get<std::string>();
  if (command == "reduce") {
    return json.contains("columns") ? columns_question(json) : summary_question(json);
  }
  if (command == "histogram") {
    return json.contains("weights") ? weights_question(json) : summary_question(json);
  }
  if (command == "hist2d") return pairs_question(json);
  if (command == "quantile") return quantile_question(json);
  if (command == "top") return top_question(json);
  if (command == "distinct") return distinct_question(json);
  throw bad_question("no command of this version asks it");
}

Asked parsed(const Json& json) {
  Asked question = made_of(json);
  question->set_data(data_in(json));
  const auto is_struct = [](const auto& stored) { return stored.type.is_struct(); };
  const bool has_structs = std::ranges::any_of(question->data().stored, is_struct);
  // Whatever a question does not know would be lost.
  if ((has_structs && !json.contains("pairs")) || question->settings() != json) {
    throw bad_question("no command of this version asks it");
  }
  question->rounds();  // throws for invalid bins and quantiles
  return question;
}

}  // namespace

Json Question::settings() const {
  Json json{{"command", command_},
            {"dtype", ooc::code_of(data_.stored.front().type)},
            {"offset", std::to_string(data_.offset)}};
  if (data_.skip != 0) json["skip"] = std::to_string(data_.skip);
  if (data_.count) json["count"] = std::to_string(*data_.count);
  add_places(json, data_.stored.front());
  if (data_.stored.size() == 2) {
    json["second"] = {{"dtype", ooc::code_of(data_.stored.back().type)}};
    add_places(json["second"], data_.stored.back());
  }
  describe(json);
  return json;
}

void Question::take(std::span<const std::vector<std::byte>> found, std::uint64_t records) {
  for (const std::vector<std::byte>& each : found) {
    if (is_answered() || round_ == rounds()) {
      throw ooc::Error(ooc::ErrorKind::bad_input, "is of a round behind the last one");
    }
    take_round(each, records);
    ++round_;
  }
}

void Question::take_round(std::span<const std::byte> /*found*/, std::uint64_t /*records*/) {
  throw ooc::Error(ooc::ErrorKind::bad_input, "has rounds, and its question has one");
}

void Question::set_sources(std::span<ooc::Source> /*sources*/) {}

void Question::refuse_round(const std::string& which, const std::string& why) const {
  throw ooc::Error(
      ooc::ErrorKind::usage, "these parts are of " + which,
      {.why = why,
       .hint = "join them: -o ROUND.part; then " + describe_next_round(command_, "ROUND.part")});
}

void Question::refuse_without_bins(std::string_view option) {
  throw ooc::Error(ooc::ErrorKind::usage,
                   fmt::format("--{}: these parts have no histogram", option),
                   {.hint = "reduce --histogram N --range LO:HI --shard I/N counts in bins, too"});
}

std::unique_ptr<Question> question_in(const std::string& text) {
  constexpr std::size_t most_shown = 400;  // characters
  const Json json = Json::parse(text);
  if (json.is_object() && json.contains("checkpoint")) {
    throw ooc::Error(ooc::ErrorKind::usage, "is of a run that has not ended",
                     {.hint = "run its command again, with --resume and this file"});
  }
  if (!json.is_object() || !json.contains("command")) {
    throw ooc::Error(ooc::ErrorKind::usage, "is a part of another program's operator",
                     {.why = "its question is " + text.substr(0, most_shown),
                      .hint = "that program merges it: ooc::read_part_file(), ooc::load_part()"});
  }
  try {
    return parsed(json);
  } catch (const Json::exception& error) {
    throw bad_question(error.what());
  } catch (const ooc::Error& error) {
    if (error.kind() != ooc::ErrorKind::usage) throw;
    throw bad_question(error.what());  // the type, the bins or the quantiles are invalid
  }
}

}  // namespace ooc_run
