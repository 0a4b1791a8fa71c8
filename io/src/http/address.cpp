#include <ooc/detail/http/address.hpp>

#include <ooc/detail/base/letters.hpp>
#include <ooc/detail/http/secrets.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ooc::detail {
namespace {

constexpr std::string_view scheme_end = "://";

/// Returns an environment variable; empty if it is not set.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Returns the first of two variables that is set and not empty, else `otherwise`.
std::string variable(const char* name, const char* other, std::string otherwise) {
  for (const char* const candidate : {name, other}) {
    if (std::string value = variable(candidate); !value.empty()) return value;
  }
  return otherwise;
}

Error bad_address(std::string_view name, const std::string& what, std::string hint) {
  return {ErrorKind::bad_input,
          std::string(name) + ": " + what,
          {.path = std::string(name), .hint = std::move(hint)}};
}

/// Returns the key of an object percent-encoded, as in the path of a URL and in signatures.
std::string percent_encoded(std::string_view key) {
  constexpr std::string_view digits = "0123456789ABCDEF", unreserved = "-._~/";
  std::string text;
  for (const char letter : key) {
    if (is_letter_or_digit(letter) || unreserved.find(letter) != std::string_view::npos) {
      text += letter;
      continue;
    }
    const auto byte = static_cast<unsigned char>(letter);
    text += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

/// Returns the authority of an address, between the scheme and the path. It may have a user and a
/// password. A password may contain characters that should have been encoded, such as `/` and `?`:
/// the text after the `:` is not a port then.
std::string_view authority_of(std::string_view address) {
  const std::string_view rest = address.substr(address.find(scheme_end) + scheme_end.size());
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t colon = host.find(':');
  const bool is_plain = host.starts_with('[') || colon == std::string_view::npos ||
                        std::ranges::all_of(host.substr(colon + 1), is_digit);
  const std::size_t at = rest.rfind('@');
  if (is_plain || at == std::string_view::npos) return host;
  return rest.substr(0, rest.find_first_of("/?#", at));
}

/// Returns the address of a server in AWS_ENDPOINT_URL; empty if it is not set.
std::string endpoint() {
  std::string url = variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "");
  if (url.empty()) return url;
  const std::string scheme = scheme_of(url);
  if ((scheme != "https" && scheme != "http") || authority_of(url).find('@') != std::string::npos) {
    throw Error(ErrorKind::usage, "AWS_ENDPOINT_URL is no address of a server",
                {.hint = "https://HOST or https://HOST:PORT, without a user and a password"});
  }
  while (url.ends_with('/')) url.pop_back();
  return scheme + url.substr(scheme.size());
}

/// A bucket whose name has a dot goes into the path: the host's certificate would not match.
std::string url_of_bucket(const std::string& bucket, const std::string& region) {
  if (const std::string server = endpoint(); !server.empty()) return server + "/" + bucket;
  const std::string host =
      "s3." + region + ".amazonaws.com" + (region.starts_with("cn-") ? ".cn" : "");
  return bucket.find('.') != std::string::npos ? "https://" + host + "/" + bucket
                                               : "https://" + bucket + "." + host;
}

Address s3_address(std::string_view path) {
  const std::string_view rest = path.substr(path.find(scheme_end) + scheme_end.size());
  const std::size_t slash = rest.find('/');
  const std::string bucket(rest.substr(0, slash));
  const std::string_view key =
      slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  const auto fits = [](char letter) {
    return is_letter_or_digit(letter) || letter == '-' || letter == '.' || letter == '_';
  };
  if (bucket.empty() || key.empty() || !std::ranges::all_of(bucket, fits)) {
    throw bad_address(shown_address(path), "is no address of an object", "s3://BUCKET/KEY is one");
  }
  S3Keys keys{.id = variable("AWS_ACCESS_KEY_ID"),
              .secret = variable("AWS_SECRET_ACCESS_KEY"),
              .token = variable("AWS_SESSION_TOKEN"),
              .region = variable("AWS_REGION", "AWS_DEFAULT_REGION", "us-east-1")};
  return {.url = url_of_bucket(bucket, keys.region) + "/" + percent_encoded(key),
          .name = shown_address(path),
          .keys = std::move(keys)};
}

}  // namespace

std::string Address::server() const {
  const std::size_t host = url.find(scheme_end) + scheme_end.size();
  return url.substr(0, url.find_first_of("/?#", host));
}

std::string scheme_of(std::string_view path) {
  const std::size_t end = path.find(scheme_end);
  if (end == std::string_view::npos || end == 0) return {};
  std::string scheme(path.substr(0, end));
  const auto fits = [](char letter) {
    return is_letter_or_digit(letter) || letter == '+' || letter == '-' || letter == '.';
  };
  if (!is_letter_or_digit(scheme.front()) || !std::ranges::all_of(scheme, fits)) return {};
  std::ranges::transform(scheme, scheme.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return scheme;
}

void require_no_address(std::string_view path) {
  if (scheme_of(path).empty()) return;
  const std::string shown = shown_address(path);
  throw Error(ErrorKind::usage, shown + ": files are written to this machine only",
              {.path = shown, .hint = "name a local file, and copy it to the server then"});
}

std::optional<Address> parse_address(std::string_view path) {
  const std::string scheme = scheme_of(path);
  if (scheme == "s3") return s3_address(path);
  if (scheme != "https" && scheme != "http") return std::nullopt;
  std::string name = shown_address(path);
  if (authority_of(path).find('@') != std::string_view::npos) {
    throw bad_address(name, "an address has no user and no password",
                      "write them to ~/.netrc: they would appear in messages and reports");
  }
  if (authority_of(name).empty()) {
    throw bad_address(name, "is no address of an object", "https://HOST/PATH is one");
  }
  const std::string_view rest = path.substr(scheme.size());
  return Address{.url = scheme + std::string(rest.substr(0, rest.find('#'))),
                 .name = std::move(name)};
}

}  // namespace ooc::detail
