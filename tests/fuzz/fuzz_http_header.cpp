// An input is the header of a server's answer. Each of its lines is also an address, as a user
// types it.

#include <ooc/detail/http/address.hpp>
#include <ooc/error.hpp>

#include <optional>
#include <string>

#include "http/answer.hpp"
#include "input.hpp"

namespace {

using ooc::detail::fuzz::require;

void check_answer(const ooc::detail::Answer& answer) {
  require(answer.status >= 0 && answer.status <= 999, "a status has three digits");
  if (answer.range && answer.range->has_range) {
    require(answer.range->first <= answer.range->last, "a range has a byte or more");
  }
}

void check_address(std::string_view text) {
  std::optional<ooc::detail::Address> address;
  try {
    address = ooc::detail::parse_address(text);
  } catch (const ooc::Error& error) {
    require(error.kind() == ooc::ErrorKind::bad_input, "an address is understood, or bad input");
    require(!error.details().hint.empty(), "the hint says what one looks like");
    return;
  }
  const std::string scheme = ooc::detail::scheme_of(text);
  const bool is_remote = scheme == "http" || scheme == "https" || scheme == "s3";
  require(address.has_value() == is_remote, "what has such a scheme is an address");
  if (!address) return;
  require(address->url.starts_with(address->server()), "an address begins with its server");
  require(address->url.find('#') == std::string::npos, "a fragment is not sent");
  if (address->keys) return;
  const auto after_scheme = [](std::string_view whole) { return whole.substr(whole.find(':')); };
  // The name leaves out all before an '@', also in a path, since it may be a password.
  require(address->url.find('@') != std::string::npos ||
              after_scheme(address->url).starts_with(after_scheme(address->name)),
          "the name is the address, but for the case of the scheme");
  require(address->name.find('?') == std::string::npos, "the name has no signature");
  require(address->server().find('@') == std::string::npos, "nor has it a password");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = ooc::detail::fuzz::as_text(data, size);
  ooc::detail::Answer answer;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    answer.add_line(line);
    check_answer(answer);
    check_address(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return 0;
}
