#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/formats/headers/header_rules.hpp"

namespace ooc::detail {

/// The values of a header by their keys. What breaks a rule is an Error(bad_input).
class HeaderFields {
 public:
  /// Both must outlive this object.
  HeaderFields(const Beginning& file, const FormatParser& format) : file_(file), format_(format) {}

  /// Adds a value. A key must not be there before.
  void add(std::string_view key, std::string_view value);
  void clear() { values_.clear(); }

  /// Returns a value; empty if it is not there.
  std::string text(std::string_view key) const;

  /// Returns a whole number; if it is not there, `missing`, unless that is empty.
  std::int64_t whole(std::string_view key, std::optional<std::int64_t> missing = {}) const;
  /// Returns such a number that is not negative.
  std::uint64_t size(std::string_view key, std::optional<std::int64_t> missing = {}) const;
  long double real(std::string_view key, long double missing) const;

  /// Returns the lengths of a shape, which are listed with spaces between them. The first one
  /// varies fastest in the file, so that it is the last one that is returned.
  std::vector<std::uint64_t> reversed_lengths(std::string_view key) const;

  [[noreturn]] void fail(const std::string& expected) const;

 private:
  const Beginning& file_;
  const FormatParser& format_;
  std::map<std::string, std::string, std::less<>> values_{};
};

}  // namespace ooc::detail
