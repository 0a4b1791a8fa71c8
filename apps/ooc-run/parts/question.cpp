#include "parts/question.hpp"

#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <ooc/dtype.hpp>
#include <ooc/error.hpp>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/options.hpp"

namespace ooc_run {
namespace {

Json to_json(const ooc::BinCount& bins) {
  const auto rule = bins.rule();
  if (!rule) return bins.number();
  return bin_rule_names[static_cast<std::size_t>(*rule)];
}

Json to_json(const ooc::HistogramOptions& options) {
  Json json{{"bins", to_json(options.bins)}, {"logarithmic", options.logarithmic}};
  if (options.range) json["range"] = {options.range->lower, options.range->upper};
  if (!options.edges.empty()) json["edges"] = options.edges;
  return json;
}

ooc::Error bad_question(const std::string& why) {
  return {ooc::ErrorKind::bad_input, "has a question that is not understood", {.why = why}};
}

ooc::BinCount bins_in(const Json& json) {
  if (json.is_string()) {
    return static_cast<ooc::BinRule>(index_among(bin_rule_names, json.get<std::string>()));
  }
  if (!json.is_number_unsigned()) throw bad_question("its bins are no whole number");
  return json.get<std::size_t>();
}

ooc::HistogramOptions histogram_in(const Json& json) {
  ooc::HistogramOptions options;
  options.bins = bins_in(json.at("bins"));
  options.logarithmic = json.at("logarithmic").get<bool>();
  if (json.contains("range")) {
    options.range = {json.at("range").at(0).get<double>(), json.at("range").at(1).get<double>()};
  }
  if (json.contains("edges")) options.edges = json.at("edges").get<std::vector<double>>();
  return options;
}

std::string_view name_of(ooc::NanPolicy policy) {
  return policy == ooc::NanPolicy::omit ? "omit" : "propagate";
}

ooc::NanPolicy nan_policy_in(const Json& json) {
  const Json& nan = json.at("nan");
  if (nan != "omit" && nan != "propagate") throw bad_question("it does not say what NaN is to do");
  return nan == "omit" ? ooc::NanPolicy::omit : ooc::NanPolicy::propagate;
}

Json to_json(const ooc::ReduceOptions& options) {
  return {{"nan", name_of(options.nan)}, {"exact", options.exact}};
}

ooc::ReduceOptions reduce_in(const Json& json) {
  return {.nan = nan_policy_in(json), .exact = json.at("exact").get<bool>()};
}

std::uint64_t integer_in_text(const Json& json) {
  const auto& text = json.get_ref<const std::string&>();
  std::uint64_t integer = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
  if (error == std::errc{} && end == text.data() + text.size()) return integer;
  constexpr std::size_t most_shown = 32;
  throw bad_question("'" + text.substr(0, most_shown) + "' is no whole number");
}

Json to_json(const ooc::QuantileOptions& options) {
  return {{"q", options.q},
          {"method", quantile_method_names[static_cast<std::size_t>(options.method)]},
          {"nan", name_of(options.nan)}};
}

ooc::QuantileOptions quantile_in(const Json& json) {
  const std::size_t method =
      index_among(quantile_method_names, json.at("method").get<std::string>());
  return {.q = json.at("q").get<std::vector<double>>(),
          .method = static_cast<ooc::QuantileMethod>(method),
          .nan = nan_policy_in(json)};
}

Json to_json(const ooc::TopOptions& options) {
  return {{"k", options.k}, {"smallest", options.smallest}};
}

ooc::TopOptions top_in(const Json& json) {
  const Json& k = json.at("k");
  const bool is_number = k.is_number_unsigned();
  if (!is_number || k == 0 || k > ooc::max_top) throw bad_question("its number of values is wrong");
  return {.k = k.get<std::uint64_t>(), .smallest = json.at("smallest").get<bool>()};
}

Json to_json(const ooc::DistinctOptions& options) {
  return {{"counts", options.counts}, {"estimate", options.estimate}};
}

ooc::DistinctOptions distinct_in(const Json& json) {
  const Json& counts = json.at("counts");
  const bool is_estimate = json.at("estimate").get<bool>();
  const bool is_number = counts.is_number_unsigned() && counts <= ooc::max_distinct_counts;
  if (!is_number || (is_estimate && counts != 0)) {
    throw bad_question("its number of counts is wrong");
  }
  return {.counts = counts.get<std::uint64_t>(), .estimate = is_estimate};
}

Question parsed(const Json& json) {
  Question question{.command = json.at("command").get<std::string>(),
                    .type = ooc::parse_dtype(json.at("dtype").get<std::string>()),
                    .offset = integer_in_text(json.at("offset"))};
  if (json.contains("skip")) question.skip = integer_in_text(json.at("skip"));
  if (json.contains("count")) question.count = integer_in_text(json.at("count"));
  if (json.contains("array")) question.array = json.at("array").get<std::string>();
  if (json.contains("places")) {
    for (const Json& place : json.at("places")) question.places.push_back(integer_in_text(place));
  }
  if (json.contains("reduce")) question.reduce = reduce_in(json.at("reduce"));
  if (json.contains("columns")) question.columns = integer_in_text(json.at("columns"));
  if (json.contains("histogram")) question.histogram = histogram_in(json.at("histogram"));
  if (json.contains("quantile")) question.quantile = quantile_in(json.at("quantile"));
  if (json.contains("top")) question.top = top_in(json.at("top"));
  if (json.contains("distinct")) question.distinct = distinct_in(json.at("distinct"));
  return question;
}

/// Throws Error unless some command of this version asks this question.
void check(const Question& question) {
  const auto& [reduce, histogram, quantile, top, distinct] = std::tie(
      question.reduce, question.histogram, question.quantile, question.top, question.distinct);
  const std::string& command = question.command;
  // The elements of a row fit the address space.
  constexpr std::uint64_t most_columns = std::uint64_t{1} << 59;
  const bool has_columns =
      !question.columns || (*question.columns - 1 < most_columns && reduce && !histogram);
  const bool is_reduce =
      command == "reduce" && reduce && !quantile && !top && !distinct && has_columns;
  const bool is_one = reduce.has_value() + histogram.has_value() + quantile.has_value() +
                          top.has_value() + distinct.has_value() ==
                      1;
  const bool is_other =
      is_one && ((command == "histogram" && histogram) || (command == "quantile" && quantile) ||
                 (command == "top" && top) || (command == "distinct" && distinct));
  if ((!is_reduce && !is_other) || question.type.is_struct())
    throw bad_question("no command of this version asks it");
  rounds_of(question);  // throws for invalid bins and quantiles
}

}  // namespace

Json to_json(const Question& question) {
  Json json{{"command", question.command},
            {"dtype", ooc::code_of(question.type)},
            {"offset", std::to_string(question.offset)}};
  if (question.skip != 0) json["skip"] = std::to_string(question.skip);
  if (question.count) json["count"] = std::to_string(*question.count);
  if (!question.array.empty()) json["array"] = question.array;
  for (const std::uint64_t place : question.places) {
    json["places"].push_back(std::to_string(place));
  }
  if (question.reduce) json["reduce"] = to_json(*question.reduce);
  if (question.columns) json["columns"] = std::to_string(*question.columns);
  if (question.histogram) json["histogram"] = to_json(*question.histogram);
  if (question.quantile) json["quantile"] = to_json(*question.quantile);
  if (question.top) json["top"] = to_json(*question.top);
  if (question.distinct) json["distinct"] = to_json(*question.distinct);
  return json;
}

std::string_view records_of(const Question& question) {
  return question.columns ? "rows" : "values";
}

std::uint64_t tile_records_of(const Question& question) {
  if (!question.columns) return ooc::tile_elements;
  return ooc::column_tile_rows(*question.columns * ooc::size_of(question.type));
}

std::size_t rounds_of(const Question& question) {
  if (question.quantile) return ooc::quantile_passes(question.type.element, *question.quantile);
  if (!question.histogram) return 1;
  return ooc::histogram_passes(question.type.element, *question.histogram);
}

ooc::ChosenBins chosen_bins(const Question& question, std::span<const std::byte> saved,
                            std::uint64_t values) {
  auto bins = ooc::load_bins(question.type.element, *question.histogram, saved);
  if (bins.records() == values) return std::move(bins).result();
  throw ooc::Error(ooc::ErrorKind::bad_input, "its bins are of other data");
}

ooc::QuantileSearch search_after(const Question& question,
                                 std::span<const std::vector<std::byte>> earlier,
                                 std::uint64_t values) {
  ooc::QuantileSearch search(question.type.element, *question.quantile);
  for (const std::vector<std::byte>& saved : earlier) {
    if (search.is_complete()) {
      throw ooc::Error(ooc::ErrorKind::bad_input, "is of a round behind the last one");
    }
    auto counts = search.load(saved);
    if (counts.records() != values)
      throw ooc::Error(ooc::ErrorKind::bad_input, "its counts are of other data");
    search.take(std::move(counts).result());
  }
  return search;
}

Question question_in(const std::string& text) {
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
    Question question = parsed(json);
    check(question);
    return question;
  } catch (const Json::exception& error) {
    throw bad_question(error.what());
  } catch (const ooc::Error& error) {
    if (error.kind() != ooc::ErrorKind::usage) throw;
    throw bad_question(error.what());  // the type, the bins or the quantiles are invalid
  }
}

}  // namespace ooc_run
