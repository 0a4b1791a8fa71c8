#include "file/input_errors.hpp"
#include "http/range_request.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

// The errors of requests.

namespace ooc::detail {
namespace {

/// Returns the text of the first element of that name in the XML of an S3 server.
std::string element_of(const std::string& xml, const std::string& name) {
  const std::string open = "<" + name + ">";
  const std::size_t begin = xml.find(open);
  if (begin == std::string::npos) return {};
  const std::size_t end = xml.find("</", begin);
  if (end == std::string::npos) return {};
  return xml.substr(begin + open.size(), end - begin - open.size());
}

/// Returns what to do about a refusal of an S3 server that names its cause; empty if the status
/// says as much.
std::string_view hint_for(std::string_view code) {
  if (code == "InvalidObjectState") {
    return "it is in an archive (Glacier, Deep Archive): restore it first, as with `aws s3api "
           "restore-object`";
  }
  if (code == "RequestTimeTooSkewed")
    return "set the clock of this machine: `timedatectl` shows it";
  if (code == "ExpiredToken") return "get new keys: AWS_SESSION_TOKEN has expired";
  if (code == "NoSuchBucket") return "check the name of the bucket";
  return {};
}

}  // namespace

/// Throws Error(input_changed) if the answer is of another version than the one that is read.
void RangeRequest::check_version() const {
  const auto or_none = [](const std::string& text) { return text.empty() ? "none" : text; };
  const ObjectVersion& version = object_->version();
  std::string why;
  if (answer_.range && answer_.range->size && *answer_.range->size != object_->size()) {
    why = "its size went from " + std::to_string(object_->size()) + " to " +
          std::to_string(*answer_.range->size) + " bytes";
  } else if (answer_.etag != version.etag) {
    why = "its ETag went from " + or_none(version.etag) + " to " + or_none(answer_.etag);
  } else if (!version.is_exact() && answer_.modified != version.modified) {
    why = "the time of its last write went from " + or_none(version.modified) + " to " +
          or_none(answer_.modified);
  }
  if (why.empty()) return;
  throw changed_error(address_->name, std::move(why));
}

Error RangeRequest::error(ErrorKind kind, const std::string& what, std::string why,
                          std::string hint) const {
  return {kind,
          address_->name + ": " + what,
          {.path = address_->name,
           .offset = object_ != nullptr ? std::optional(offset_ + done_) : std::nullopt,
           .why = std::move(why),
           .hint = std::move(hint)}};
}

/// Returns the error if the server sends no range and does not say that the object is empty.
Error RangeRequest::says_no_size() const {
  return error(ErrorKind::bad_input, "the server refuses to send a part of it",
               "it does not say that it is empty either: " +
                   (answer_.content_length && *answer_.content_length > 0
                        ? "it has " + std::to_string(*answer_.content_length) + " bytes"
                        : "it answers " + answer_.status_text() + " to the question for all of it"),
               "download it first");
}

/// Returns the error for an answer that is a refusal.
Error RangeRequest::refused() const {
  std::string why, hint;
  const std::string code = element_of(text_of_refusal_, "Code");
  if (!code.empty()) why = code + ": " + element_of(text_of_refusal_, "Message");
  const bool is_s3 = address_->keys.has_value();
  if (info<long>(CURLINFO_HTTP_CONNECTCODE) >= 300) {
    return error(ErrorKind::input, "the proxy refused to connect to its server",
                 answer_.status_text(), "see https_proxy, which may name a user and a password");
  }
  if (const std::string_view known = hint_for(code); !known.empty()) {
    return error(ErrorKind::input, "the server refused it: " + answer_.status_text(),
                 std::move(why), std::string(known));
  }
  switch (answer_.status) {
    case 404:
    case 410: hint = "check the address"; break;
    case 401:
    case 403:
      hint = !is_s3
                 ? "a signed address may have expired; a user and password are read from ~/.netrc"
             : address_->keys->id.empty()
                 ? "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION"
                 : "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and "
                   "AWS_REGION, which are set";
      break;
    default: break;
  }
  if (is_s3 && !answer_.bucket_region.empty() && answer_.bucket_region != address_->keys->region) {
    hint = "the bucket is in another region: set AWS_REGION=" + answer_.bucket_region;
  }
  return error(ErrorKind::input, "the server refused it: " + answer_.status_text(), std::move(why),
               std::move(hint));
}

Error RangeRequest::not_reached(CURLcode code) const {
  std::string detail = message_.data();
  // libcurl repeats the address of a proxy, which may have a password.
  if (detail.find("proxy") != std::string::npos) detail.clear();
  std::string hint;
  if (code == CURLE_COULDNT_RESOLVE_HOST) hint = "check the name of the host";
  if (code == CURLE_PEER_FAILED_VERIFICATION) {
    hint = "CURL_CA_BUNDLE may name a file with the certificate of its authority";
  }
  const ErrorKind kind = code == CURLE_URL_MALFORMAT ? ErrorKind::bad_input : ErrorKind::input;
  return error(kind, "cannot be read from its server",
               detail.empty() ? curl_.easy_strerror(code) : detail, std::move(hint));
}

}  // namespace ooc::detail
