#include "json/json_text.hpp"

#include <ooc/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ooc::detail {

namespace {

using Json = nlohmann::ordered_json;

Error not_plain(const std::string& why) {
  return {ErrorKind::bad_input, "has JSON that " + why};
}

void require_short(std::string_view text) {
  constexpr std::size_t most_bytes = 4 * 1024 * 1024;  // a struct has less for 100,000 fields
  if (text.size() > most_bytes) throw not_plain("has a text that is too long");
}

/// Counts the values of a text while it is parsed.
class Counts final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return add(); }
  bool boolean(bool) override { return add(); }
  bool number_integer(std::int64_t) override { return add(); }
  bool number_unsigned(std::uint64_t) override { return add(); }
  bool number_float(double, const std::string&) override { return add(); }
  bool string(std::string& text) override {
    require_short(text);
    return add();
  }
  bool binary(Json::binary_t&) override { return add(); }
  bool start_object(std::size_t) override { return begin(); }
  bool start_array(std::size_t) override { return begin(); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool key(std::string& text) override {
    require_short(text);
    constexpr std::size_t most_members = 256;  // they are searched one by one
    if (++members_.back() > most_members) throw not_plain("has too many members");
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    throw not_plain(std::string("is damaged: ") + error.what());
  }

 private:
  bool add() {
    constexpr std::size_t most_values = std::size_t{1} << 21;
    if (++values_ > most_values) throw not_plain("has too many values");
    return true;
  }

  bool begin() {
    constexpr std::size_t most_depth = 64;  // writing and comparing recurse
    if (members_.size() == most_depth) throw not_plain("is nested too deeply");
    members_.push_back(0);
    return add();
  }

  bool end() {
    members_.pop_back();
    return true;
  }

  std::size_t values_ = 0;
  std::vector<std::size_t> members_{};  // of the object and those around it; 0 for arrays
};

std::size_t after_spaces(std::string_view json, std::size_t at) {
  return std::min(json.find_first_not_of(" \t\n\r", at), json.size());
}

/// Returns the place after the value that begins at `at`.
std::size_t after_value(std::string_view json, std::size_t at) {
  std::size_t depth = 0;
  for (bool is_text = false; at < json.size(); ++at) {
    const char letter = json[at];
    if (letter == '\\') {
      ++at;
    } else if (letter == '"') {
      is_text = !is_text;
    } else if (is_text) {
      continue;
    } else if (letter == '{' || letter == '[') {
      ++depth;
    } else if (depth == 0 && (letter == ',' || letter == ':' || letter == '}' || letter == ']')) {
      return at;
    } else if (letter == '}' || letter == ']') {
      --depth;
    }
  }
  return at;
}

/// Calls `take` with the text of each value in an object or an array, keys included, until it
/// returns false. Throws Error(bad_input) unless the text begins with `bracket`.
template <class Take>
void for_each_value(std::string_view json, char bracket, const Take& take) {
  std::size_t at = after_spaces(json, 0);
  if (at == json.size() || json[at] != bracket) throw not_plain("has other values than it should");
  at = after_spaces(json, at + 1);
  while (at < json.size() && json[at] != '}' && json[at] != ']') {
    const std::size_t end = after_value(json, at);
    if (!take(json.substr(at, end - at))) return;
    at = end;
    if (at < json.size() && (json[at] == ',' || json[at] == ':')) at = after_spaces(json, at + 1);
  }
}

}  // namespace

void require_plain_json(std::string_view text) {
  // The parser would hold a long string twice.
  for (std::size_t at = text.find('"'); at != std::string_view::npos;) {
    const std::size_t next = text.find('"', at + 1);
    require_short(text.substr(at, next - at));
    at = next;
  }
  Counts counts;
  Json::sax_parse(text.begin(), text.end(), &counts);
}

std::string_view member_of(std::string_view object, std::string_view name) {
  const std::string quoted = '"' + std::string(name) + '"';
  std::string_view found, key;
  bool is_key = true;
  for_each_value(object, '{', [&](std::string_view text) {
    if (!is_key && key.starts_with(quoted)) found = text;
    if (is_key) key = text;
    is_key = !is_key;
    return found.empty();
  });
  if (found.empty()) throw not_plain("does not have '" + std::string(name) + "'");
  return found;
}

void for_each_element(std::string_view array, const std::function<void(const Json&)>& take) {
  constexpr std::size_t most_bytes = 64 * 1024;  // ten times the longest name of a file
  for_each_value(array, '[', [&](std::string_view text) {
    if (text.size() > most_bytes) throw not_plain("has an element that is too long");
    take(Json::parse(text));
    return true;
  });
}

}  // namespace ooc::detail
