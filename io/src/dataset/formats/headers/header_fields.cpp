#include "dataset/formats/headers/header_fields.hpp"

#include <algorithm>

namespace ooc::detail {

void HeaderFields::add(std::string_view key, std::string_view value) {
  if (!values_.emplace(key, value).second) fail(std::string(key) + " once");
}

std::string HeaderFields::text(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? "" : found->second;
}

std::int64_t HeaderFields::whole(std::string_view key, std::optional<std::int64_t> missing) const {
  const std::string value = text(key);
  const auto found = value.empty() && missing ? missing : whole_number(value);
  if (!found) fail("a whole number for " + std::string(key));
  return *found;
}

std::uint64_t HeaderFields::size(std::string_view key, std::optional<std::int64_t> missing) const {
  const std::int64_t found = whole(key, missing);
  if (found < 0) fail(std::string(key) + " that is not negative");
  return static_cast<std::uint64_t>(found);
}

long double HeaderFields::real(std::string_view key, long double missing) const {
  const std::string value = text(key);
  const auto found = value.empty() ? missing : real_number(value);
  if (!found) fail("a number for " + std::string(key));
  return *found;
}

std::vector<std::uint64_t> HeaderFields::reversed_lengths(std::string_view key) const {
  const std::string list = text(key);
  std::vector<std::uint64_t> lengths;
  for (std::string_view left = trimmed(list); !left.empty();) {
    const std::string_view word = left.substr(0, left.find_first_of(" \t"));
    const auto length = whole_number(word);
    if (!length || *length < 0 || lengths.size() == most_lengths) {
      fail("up to 64 whole numbers for " + std::string(key));
    }
    lengths.push_back(static_cast<std::uint64_t>(*length));
    left = trimmed(left.substr(word.size()));
  }
  std::ranges::reverse(lengths);
  return lengths;
}

void HeaderFields::fail(const std::string& expected) const {
  throw broken_header(file_, format_, expected);
}

}  // namespace ooc::detail
