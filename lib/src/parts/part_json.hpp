#pragma once

#include <ooc/detail/parts/part_file.hpp>
#include <ooc/error.hpp>

#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

// Parts of the JSON of a PartFile. Integers are strings, because many readers of JSON round numbers
// beyond 2^53.

namespace ooc::detail {

/// Returns the integer that a string has. Throws Error(bad_input).
template <class Integer>
Integer integer_in(const nlohmann::ordered_json& json) {
  const auto& text = json.get_ref<const std::string&>();
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    constexpr std::size_t most = 32;
    throw Error(ErrorKind::bad_input, "'" + text.substr(0, most) + "' is no integer");
  }
  return value;
}

inline nlohmann::ordered_json json_of(const FileIdentity& file) {
  return {{"name", file.name},
          {"bytes", std::to_string(file.bytes)},
          {"modified_ns", std::to_string(file.modified_ns)},
          {"xxh3_64", std::to_string(file.hash)}};
}

/// Throws Error(bad_input), nlohmann::json::exception.
inline FileIdentity identity_in(const nlohmann::ordered_json& json) {
  return {.name = json.at("name").get<std::string>(),
          .bytes = integer_in<std::uint64_t>(json.at("bytes")),
          .modified_ns = integer_in<std::int64_t>(json.at("modified_ns")),
          .hash = integer_in<std::uint64_t>(json.at("xxh3_64"))};
}

}  // namespace ooc::detail
