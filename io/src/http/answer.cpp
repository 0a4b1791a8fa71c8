#include "http/answer.hpp"

#include <ooc/detail/base/letters.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <system_error>
#include <utility>

namespace ooc::detail {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char letter) {
    return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
  };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_same_word(std::string_view text, std::string_view lower) {
  return std::ranges::equal(
      text, lower, [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

/// Parses a text that is a decimal number; returns nothing for any other text.
std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

std::optional<Answer::ContentRange> range_in(std::string_view text) {
  constexpr std::string_view unit = "bytes ";
  const std::size_t slash = text.find('/');
  if (!is_same_word(text.substr(0, unit.size()), unit)) return {};
  if (slash == std::string_view::npos) return {};
  const std::string_view place = trimmed(text.substr(unit.size(), slash - unit.size()));
  const std::string_view size = text.substr(slash + 1);
  Answer::ContentRange range{.size = number_in(size)};
  if (!range.size && size != "*") return {};
  if (place == "*") return range;
  const std::size_t dash = place.find('-');
  if (dash == std::string_view::npos) return {};
  const auto first = number_in(place.substr(0, dash)), last = number_in(place.substr(dash + 1));
  if (!first || !last || *last < *first) return {};
  range.first = *first;
  range.last = *last;
  range.has_range = true;
  return range;
}

}  // namespace

void Answer::add_line(std::string_view line) {
  if (line.starts_with(' ') || line.starts_with('\t')) return;  // continues the previous line
  line = trimmed(line);
  if (line.starts_with("HTTP/")) {
    *this = {};
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return;
    const std::string_view rest = trimmed(line.substr(space));
    status = static_cast<int>(number_in(rest.substr(0, 3)).value_or(0));
    reason = trimmed(rest.substr(std::min<std::size_t>(rest.size(), 3)));
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (is_same_word(name, "content-range")) range = range_in(value);
  if (is_same_word(name, "content-length")) content_length = number_in(value);
  if (is_same_word(name, "etag")) etag = value;
  if (is_same_word(name, "last-modified")) modified = value;
  if (is_same_word(name, "content-encoding")) encodings += "," + lower_case(value);
  if (is_same_word(name, "transfer-encoding")) {
    is_chunked = lower_case(value).find("chunked") != std::string::npos;
  }
  if (is_same_word(name, "x-amz-bucket-region")) bucket_region = value;
}

bool Answer::is_compressed() const {
  constexpr std::array<std::string_view, 16> words{
      "gzip", "x-gzip", "deflate", "compress",     "x-compress", "br",   "zstd",   "dcb",
      "dcz",  "exi",    "lz4",     "pack200-gzip", "bzip2",      "lzma", "snappy", "xz"};
  for (std::string_view rest = encodings; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (std::ranges::find(words, trimmed(rest.substr(0, end))) != words.end()) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::string Answer::status_text() const {
  return std::to_string(status) + (reason.empty() ? "" : " " + reason);
}

}  // namespace ooc::detail
