#include "parts/settings_json.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <ooc/error.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/options.hpp"

namespace ooc_run {

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

void require_columns(std::uint64_t columns) {
  constexpr std::uint64_t most_columns = std::uint64_t{1} << 59;
  if (columns - 1 >= most_columns) throw bad_question("there are no such rows");
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

}  // namespace ooc_run
