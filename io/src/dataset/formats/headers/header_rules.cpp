#include "dataset/formats/headers/header_rules.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "base/little_endian.hpp"
#include "base/shape.hpp"

namespace ooc::detail {
namespace {

/// Returns the number that all of a text stands for. A plus before it has no meaning.
template <class Number>
std::optional<Number> parsed(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || rest != end) return std::nullopt;
  return number;
}

}  // namespace

Error broken_header(const Beginning& file, const FormatParser& format,
                    const std::string& expected) {
  return {ErrorKind::bad_input,
          file.path().string() + ": " + std::string(format.title) +
              " header not understood: expected " + expected,
          {.path = file.path(),
           .why = "it is damaged, or the file begins like this format by chance",
           .remedies = {{RemedyAction::set, "Format::file", "raw", "reads its bytes as numbers"}}}};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view spaces = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
  return text.substr(0, text.find_last_not_of(spaces) + 1);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  return parsed<std::int64_t>(text);
}

std::optional<long double> real_number(std::string_view text) {
  std::string copy(text);
  std::ranges::replace(copy, 'D', 'E');
  std::ranges::replace(copy, 'd', 'e');
  return parsed<long double>(copy);
}

std::uint64_t number_at(std::string_view text, std::size_t offset, std::size_t bytes,
                        bool is_big_endian) {
  std::string number(text.substr(offset, bytes));
  if (is_big_endian) std::ranges::reverse(number);
  return number_in(number, 0, bytes);
}

DType stored_type(ElementType element, bool is_big_endian) {
  const bool is_native_big = std::endian::native == std::endian::big;
  return {element, size_of(element) > 1 && is_big_endian != is_native_big};
}

StoredArray array_behind(const Beginning& file, const DType& type, std::vector<std::uint64_t> shape,
                         std::uint64_t offset) {
  const std::optional<std::uint64_t> bytes = product_of(shape, size_of(type));
  if (!bytes || *bytes > std::numeric_limits<std::uint64_t>::max() - offset) {
    throw not_understood(file.path(), "its header claims more data than a file can hold");
  }
  bytes_behind(file, offset + *bytes);  // throws if the file is shorter
  return {.type = type,
          .type_reason = "from its header",
          .offset = offset,
          .bytes = *bytes,
          .shape = std::move(shape)};
}

void require_end(const Beginning& file, const FormatParser& format, std::uint64_t data_end) {
  const std::uint64_t behind = bytes_behind(file, data_end);
  if (behind == 0) return;
  throw broken_header(file, format, "no bytes behind the data, not " + std::to_string(behind));
}

}  // namespace ooc::detail
