#include "page/fact_html.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "draw/svg.hpp"

namespace ooc_run {
namespace {

constexpr std::size_t most_files = 50;

std::string number_for_people(std::string_view key, const Json& value) {
  const auto number = value.get<double>();
  const bool bytes = key == "bytes" || key.ends_with("_bytes") || key.starts_with("bytes_");
  if (key == "bytes_per_second") return format_both_rates(number);
  if (key.ends_with("bytes_per_second")) return format_rate(number);
  if (bytes && value.is_number_integer()) return format_bytes(value.get<std::uint64_t>());
  if (key.ends_with("seconds")) return format_seconds(number);
  if (key.ends_with("fraction")) return fmt::format("{:.0f} %", 100 * number);
  if (key == "flops") return format_flops(number);
  if (value.is_number_integer()) return group_digits(text_of(value));
  return format_real(number);
}

std::string words_of(std::string_view key) {
  std::string words(key);
  std::ranges::replace(words, '_', ' ');
  return words;
}

struct Label {
  std::string_view key, words;
};

/// Labels for JSON keys that are abbreviations.
constexpr std::array labels{
    Label{"stddev", "standard deviation"},
    Label{"var", "variance"},
    Label{"min", "minimum"},
    Label{"max", "maximum"},
    Label{"argmin", "place of the minimum"},
    Label{"argmax", "place of the maximum"},
    Label{"nan", "values that are NaN"},
    Label{"inf", "infinite values"},
    Label{"below", "values below the bins"},
    Label{"above", "values above the bins"},
    Label{"count", "values"},
    Label{"dtype", "type"},
    Label{"type_reason", "the type is known"},
    Label{"bytes", "size"},
    Label{"bytes_behind", "size of what follows the array"},
    Label{"direct", "direct I/O"},
    Label{"engine", "I/O engine"},
    Label{"page_cache_fraction", "part in the page cache"},
    Label{"chunk_bytes", "size of a chunk"},
    Label{"block_bytes", "size of a read"},
    Label{"in_flight", "reads at a time"},
    Label{"pool_bytes", "host buffers"},
    Label{"device_bytes", "device memory"},
    Label{"read_ahead_bytes", "read ahead"},
    Label{"resident_bytes", "kept on the device"},
    Label{"covered_bytes", "covered"},
    Label{"seconds", "time"},
    Label{"startup_seconds", "start-up"},
    Label{"device_seconds", "start of the device"},
    Label{"publish_seconds", "publishing the output"},
    Label{"bytes_per_second", "rate"},
    Label{"checksum_xxh3_128", "checksum, XXH3-128"},
};

std::string label_of_fact(std::string_view key) {
  const auto* const found = std::ranges::find(labels, key, &Label::key);
  return found == labels.end() ? words_of(key) : std::string(found->words);
}

/// Returns a row with its JSON key as a tooltip, if its label is another.
std::string row_of(const std::string& prefix, std::string_view key, const Json& value) {
  const std::string label = prefix + label_of_fact(key), name = prefix + words_of(key);
  if (label == name) return fact_row(name, html_value(key, value));
  return fmt::format("<tr><th scope=\"row\" title=\"{}\">{}</th><td>{}</td></tr>\n",
                     escape_xml(prefix + std::string(key)), escape_xml(label),
                     html_value(key, value));
}

std::string rows_behind(const std::string& prefix, const Json& object) {
  std::string rows;
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      rows += rows_behind(prefix + words_of(key) + ": ", value);
    } else if (value.is_null() || value.is_binary()) {
      continue;  // unknown or not applicable, or a list
    } else if (!value.is_array() || key == "shape") {
      rows += row_of(prefix, key, value);
    }
  }
  return rows;
}

std::string group_table(std::string_view title, const std::string& rows) {
  if (rows.empty()) return {};
  return fmt::format("<div class=\"group\">\n<h3>{}</h3>\n{}</div>\n", escape_xml(title),
                     fact_table(rows));
}

/// Returns a row that spans the whole table, for long values such as paths.
std::string wide_row(std::string_view name, std::string_view html) {
  return fmt::format("<tr class=\"wide\"><th scope=\"row\">{}</th><td>{}</td></tr>\n", name, html);
}

std::string file_rows(const Json& files) {
  std::string rows;
  for (std::size_t i = 0; i < std::min(files.size(), most_files); ++i) {
    const std::string path = escape_xml(printable(files[i].at("path").get<std::string>()));
    if (files.size() == 1) return wide_row("file", path);
    rows += wide_row(fmt::format("file {}", i + 1),
                     path + ", " + html_value("bytes", files[i].at("bytes")));
  }
  if (files.size() <= most_files) return rows;
  return rows +
         wide_row("", fmt::format("and {} more", format_count(files.size() - most_files, "file")));
}

std::string input_table(const Json& input) {
  return fact_table(file_rows(input.at("files")) + fact_rows(input));
}

}  // namespace

std::string html_value(std::string_view key, const Json& value) {
  if (value.is_null()) return "–";
  if (value.is_boolean()) {
    return fmt::format("<data value=\"{}\">{}</data>", value.get<bool>(),
                       value.get<bool>() ? "yes" : "no");
  }
  if (value.is_array()) {
    std::string text;
    for (const Json& item : value) {
      text += (text.empty() ? "" : " × ") + html_value(key, item);
    }
    return text;
  }
  const std::string exact = text_of(value);
  const bool is_integer =
      !exact.empty() && exact.find_first_not_of("-0123456789") == std::string::npos;
  std::string text = printable(exact);
  if (value.is_number()) text = number_for_people(key, value);
  if (value.is_string() && is_integer) text = group_digits(exact);
  return fmt::format("<data value=\"{}\">{}</data>", escape_xml(exact), escape_xml(text));
}

std::string fact_row(std::string_view name, std::string_view html) {
  return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape_xml(name), html);
}

std::string fact_table(std::string_view rows) {
  return fmt::format("<table class=\"facts\"><tbody>\n{}</tbody></table>\n", rows);
}

std::string fact_rows(const Json& object) {
  return rows_behind("", object);
}

std::string fact_groups(const Json& object, std::span<const FactGroup> groups) {
  Json rest = Json::object();
  for (const auto& [key, value] : object.items()) {
    if (!value.is_object() && !value.is_binary()) rest[key] = value;
  }
  std::string tables;
  for (const FactGroup& group : groups) {
    Json facts = Json::object();
    for (const std::string_view key : group.keys) {
      const auto found = rest.find(key);
      if (found == rest.end()) continue;
      facts[std::string(key)] = *found;
      rest.erase(found);
    }
    tables += group_table(group.title, fact_rows(facts));
  }
  std::string objects;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_object()) continue;
    objects += group_table(words_of(key), fact_rows(value));
  }
  return fmt::format("<div class=\"groups\">\n{}</div>\n",
                     tables + group_table("other", fact_rows(rest)) + objects);
}

std::string input_tables(const Json& input) {
  if (input.contains("files")) return input_table(input);
  std::string tables;
  for (const auto& [name, one] : input.items()) {
    tables += fmt::format("<h3>{}</h3>\n{}", escape_xml(name), input_table(one));
  }
  return tables;
}

}  // namespace ooc_run
