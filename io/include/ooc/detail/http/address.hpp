#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ooc::detail {

/// Keys that sign requests to a server of the S3 protocol.
struct S3Keys {
  std::string id{};      ///< empty: requests are not signed, as for public objects
  std::string secret{};  ///< the secret access key
  std::string token{};   ///< of temporary keys; may be empty
  std::string region{};  ///< of the bucket
};

/// The address of an object on a web server.
struct Address {
  std::string url{};             ///< what is asked for, https:// or http://
  std::string name{};            ///< for messages: as the user wrote it, without what follows `?`
  std::optional<S3Keys> keys{};  ///< of an s3:// address

  /// Returns scheme, host and port of the server: "https://example.org".
  std::string server() const;
};

/// Returns the scheme of an address in lower case, "https" of "https://example.org/x"; empty for a
/// path.
std::string scheme_of(std::string_view path);

/// Throws Error(usage) if the path of an output is an address, whatever its scheme.
void require_no_address(std::string_view path);

/// Parses an address; empty for a path or an address of another scheme. An s3:// address,
/// `s3://BUCKET/KEY`, is that of Amazon S3, or of the server that AWS_ENDPOINT_URL_S3 or
/// AWS_ENDPOINT_URL names. AWS_REGION or AWS_DEFAULT_REGION (else us-east-1), AWS_ACCESS_KEY_ID,
/// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN are read from the environment. Throws
/// Error(bad_input) if there is no host, bucket or key, or for a user or password in it;
/// Error(usage) for a wrong AWS_ENDPOINT_URL.
std::optional<Address> parse_address(std::string_view path);

}  // namespace ooc::detail
