#include <ooc/detail/http/secrets.hpp>

#include <ooc/detail/base/letters.hpp>

#include <unistd.h>

#include <algorithm>
#include <cctype>

namespace ooc::detail {
namespace {

constexpr std::string_view query_marks = "?#";

/// Returns the position after the scheme and the slashes of a word, where a user may begin; 0 if
/// there are none. Scheme and slashes: "http://", "url=http://", "http:/", "//", "http:".
std::size_t begin_of_authority(std::string_view word) {
  std::size_t begin = std::min(word.find(":/"), word.find("=//"));
  if (begin != std::string_view::npos) {
    ++begin;
  } else if (word.starts_with("//")) {
    begin = 0;
  } else {
    const std::size_t colon = word.find(':');
    const std::size_t next = colon == std::string_view::npos ? colon : word.find(':', colon + 1);
    const bool is_scheme = next < word.rfind('@') && word.rfind('@') != std::string_view::npos;
    return is_scheme ? colon + 1 : 0;
  }
  return std::min(word.find_first_not_of('/', begin), word.size());
}

/// True if a text is a host, perhaps with a port, and not a user with a password. A password with
/// unencoded characters, such as `/` and `?`, may cut the text off there.
bool has_plain_host(std::string_view host) {
  const std::size_t colon = host.find(':');
  return host.starts_with('[') || colon == std::string_view::npos ||
         std::ranges::all_of(host.substr(colon + 1), is_digit);
}

std::string_view without_query(std::string_view text) {
  return text.substr(0, text.find_first_of(query_marks));
}

/// Returns the part of an address after its slashes that contains no secrets.
std::string_view without_user(std::string_view rest) {
  constexpr std::size_t none = std::string_view::npos;
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t at = rest.rfind('@');
  if (!has_plain_host(host)) return without_query(at == none ? rest : rest.substr(at + 1));
  if (const std::size_t user = host.rfind('@'); user != none) {
    return without_query(rest.substr(user + 1));
  }
  // A user may have a slash, and a password may begin as a port does.
  const std::string_view path = without_query(rest);
  const std::size_t inner = path.rfind('@');
  if (inner != none && path.find(':') < inner) return path.substr(inner + 1);
  // If the `@` is in what may be a query, either part may be secret.
  const std::size_t colon = path.find(':', host.size());
  return at == none || colon == none ? path : path.substr(0, colon);
}

/// True for the beginning of an address that has a user, but no host yet.
bool lacks_host(std::string_view word) {
  const std::size_t begin = begin_of_authority(word);
  const std::string_view rest = word.substr(begin);
  return begin != 0 && !has_plain_host(rest.substr(0, rest.find_first_of("/?#"))) &&
         rest.find('@') == std::string_view::npos;
}

/// Hides the password of USER:PASSWORD@HOST.
std::string without_password(std::string_view word) {
  const std::size_t colon = word.find(':'), at = word.rfind('@');
  const bool has_password = at != std::string_view::npos && colon < at && colon + 1 < at &&
                            at + 1 < word.size() && is_letter_or_digit(word[at + 1]);
  if (!has_password) return std::string(word);
  return std::string(word.substr(0, colon + 1)) + "***" + std::string(word.substr(at));
}

}  // namespace

std::string shown_address(std::string_view word) {
  const std::size_t begin = begin_of_authority(word);
  if (begin == 0) return without_password(word);
  const std::string_view before = word.substr(0, begin), rest = word.substr(begin);
  // The key of an object may contain `?` and `#`; a signature consists of names and values.
  const bool is_key = before.ends_with("s3://") && rest.find('@') == std::string_view::npos &&
                      rest.find('=', rest.find_first_of(query_marks)) == std::string_view::npos;
  return std::string(before) + std::string(is_key ? rest : without_user(rest));
}

std::string shown_word(std::string_view word) {
  std::string shown = shown_address(word);
  const bool is_file = shown != word && ::access(std::string(word).c_str(), F_OK) == 0;
  return is_file ? std::string(word) : shown;
}

std::string without_secrets(std::string_view text) {
  constexpr std::string_view borders = " '\"\n", brackets = "-(", punctuation = ":,;.)";
  std::string result;
  while (!text.empty()) {
    std::size_t end = std::min(text.find_first_of(borders), text.size());
    const std::size_t begin = std::min(text.find_first_not_of(brackets), end);
    if (lacks_host(text.substr(begin, end - begin))) {  // a password may have spaces
      const std::size_t at = text.substr(0, text.find_first_of("'\"\n", end)).find('@', end);
      if (at != std::string_view::npos)
        end = std::min(text.find_first_of(borders, at), text.size());
    }
    std::string_view word = text.substr(begin, end - begin);
    const std::size_t last = word.find_last_not_of(punctuation);
    word = word.substr(0, last == std::string_view::npos ? 0 : last + 1);
    result += text.substr(0, begin);
    result += shown_word(word);
    result += text.substr(begin + word.size(), end + 1 - begin - word.size());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace ooc::detail
