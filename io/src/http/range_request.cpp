#include "http/range_request.hpp"

#include "file/input_errors.hpp"
#include "http/without_sigpipe.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/base/version.hpp>
#include <ooc/detail/base/wait_check.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <utility>

namespace ooc::detail {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_tries = 10;  // one after another that bring little or nothing
constexpr std::size_t least_piece = 4 * KiB, most_text = 4 * KiB;
constexpr milliseconds first_pause{100}, longest_pause{5000};
constexpr std::int64_t most_retry_after_seconds = 30;
constexpr long connect_seconds = 10, buffer_bytes = 512 * KiB;
constexpr long silent_seconds = 30;  // after so long without a byte, a connection is broken

/// Returns the pause before a try: twice as long each time, and shortened at random, so that
/// requests that failed together are not repeated together.
milliseconds pause_before(std::size_t tries, std::int64_t retry_after_seconds) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const auto factor = std::int64_t{1} << std::min<std::size_t>(tries - 1, 16);
  const auto longest = std::min<std::int64_t>(first_pause.count() * factor, longest_pause.count());
  std::uniform_int_distribution<std::int64_t> pause(longest / 2, longest);
  const auto asked =
      std::clamp<std::int64_t>(retry_after_seconds, 0, most_retry_after_seconds) * 1000;
  return milliseconds(std::max(pause(random), asked));
}

bool is_passing_status(int status) {
  constexpr std::array passing{408, 429, 500, 502, 503, 504};
  return std::ranges::find(passing, status) != passing.end();
}

std::string user_agent() {
  return "libooc/" + std::to_string(OOC_VERSION_MAJOR) + "." + std::to_string(OOC_VERSION_MINOR) +
         "." + std::to_string(OOC_VERSION_PATCH);
}

}  // namespace

RangeRequest::RangeRequest() : curl_(curl()), handle_(curl_.easy_init(), curl_.easy_cleanup) {
  if (handle_ == nullptr) throw std::bad_alloc();
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_ERRORBUFFER, message_.data());
  set(CURLOPT_USERAGENT, user_agent().c_str());
  // Requests of HTTP/2 would share one connection, which is slower than many.
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_MAXREDIRS, 5L);
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
  set(CURLOPT_CONNECTTIMEOUT, connect_seconds);
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, silent_seconds);
  set(CURLOPT_BUFFERSIZE, buffer_bytes);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_HEADERFUNCTION, &RangeRequest::take_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &RangeRequest::take_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(CURLOPT_XFERINFOFUNCTION, &RangeRequest::take_time);
  set(CURLOPT_XFERINFODATA, static_cast<void*>(this));
  set(CURLOPT_NOPROGRESS, 0L);
  // The program curl reads the same variables.
  for (const char* const name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* const bundle = std::getenv(name);
    if (bundle == nullptr || *bundle == '\0') continue;
    set(CURLOPT_CAINFO, bundle);
    break;
  }
}

RangeRequest::~RangeRequest() {
  const WithoutSigpipe blocked;  // closing the handle may write to a socket
  handle_.reset();
  curl_.slist_free_all(headers_);
}

void RangeRequest::begin(const Address& address) {
  object_ = nullptr;
  begin_range(address, 0, std::span(&first_byte_, 1));
}

void RangeRequest::begin(const RemoteObject& object, std::uint64_t offset,
                         std::span<std::byte> memory) {
  object_ = &object;
  begin_range(object.address(), offset, memory);
}

void RangeRequest::begin_range(const Address& address, std::uint64_t offset,
                               std::span<std::byte> memory) {
  operation_.emplace(IoPeer::server);
  address_ = &address;
  offset_ = offset;
  memory_ = memory;
  wants_all_ = says_empty_ = false;
  done_ = 0;
  tries_ = 0;
  why_repeated_.clear();
  set(CURLOPT_URL, address.url.c_str());
  // An S3 key may have segments such as `..`, which are not directories.
  set(CURLOPT_PATH_AS_IS, address.keys ? 1L : 0L);
  // An answer must not lead from an encrypted connection to one that is not.
  const bool is_encrypted = address.url.starts_with("https");
  set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  set(CURLOPT_REDIR_PROTOCOLS,
      static_cast<long>(is_encrypted ? CURLPROTO_HTTPS : CURLPROTO_HTTP | CURLPROTO_HTTPS));
  curl_.slist_free_all(std::exchange(headers_, nullptr));
  if (object_ != nullptr) {
    const ObjectVersion& version = object_->version();
    if (version.is_exact()) {
      add_header("If-Match: " + version.etag);
    } else if (!version.modified.empty()) {
      add_header("If-Unmodified-Since: " + version.modified);
    }
  }
  // Do not follow redirections of a signed request: the signature is for this server only.
  const bool is_signed = address.keys && !address.keys->id.empty();
  set(CURLOPT_FOLLOWLOCATION, is_signed ? 0L : 1L);
  if (is_signed) {
    sign();
  } else {
    set(CURLOPT_USERPWD, static_cast<const char*>(nullptr));
    if (curl_.easy_setopt(handle(), CURLOPT_AWS_SIGV4, nullptr) == CURLE_OK) {
      set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));  // setting the former changes it
    }
  }
  set(CURLOPT_HTTPHEADER, headers_);
  prepare_try();
}

/// Makes libcurl sign requests. The secret key is set only here, since it would be sent otherwise.
void RangeRequest::sign() {
  // Versions before 7.87 sign another hash of the body than the header has.
  constexpr unsigned least_version = 0x075700;
  const S3Keys& keys = *address_->keys;
  const std::string scheme = "aws:amz:" + keys.region + ":s3";
  if (curl_.version < least_version ||
      curl_.easy_setopt(handle(), CURLOPT_AWS_SIGV4, scheme.c_str()) != CURLE_OK) {
    throw error(ErrorKind::usage, "libcurl does not sign requests for it",
                "it takes libcurl 7.87 or later, built with AWS_SIGV4",
                "use a presigned https:// address");
  }
  set(CURLOPT_USERPWD, (keys.id + ":" + keys.secret).c_str());
  add_header("x-amz-content-sha256: UNSIGNED-PAYLOAD");
  if (!keys.token.empty()) add_header("x-amz-security-token: " + keys.token);
}

void RangeRequest::add_header(const std::string& line) {
  curl_slist* const longer = curl_.slist_append(headers_, line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  headers_ = longer;
}

void RangeRequest::prepare_try() {
  ++tries_;
  answer_ = {};
  is_checked_ = false;
  failure_ = nullptr;
  text_of_refusal_.clear();
  done_before_ = done_;
  complete_since_.reset();
  message_.fill('\0');
  const std::string range =
      std::to_string(offset_ + done_) + "-" + std::to_string(offset_ + memory_.size() - 1);
  set(CURLOPT_RANGE, wants_all_ ? nullptr : range.c_str());
}

std::size_t RangeRequest::take_header(char* data, std::size_t size, std::size_t count, void* self) {
  auto& request = *static_cast<RangeRequest*>(self);
  try {
    // Lines after the body are no part of the header.
    if (!request.is_checked_) request.answer_.add_line({data, size * count});
    return size * count;
  } catch (...) {
    return 0;
  }
}

std::size_t RangeRequest::take_body(char* data, std::size_t size, std::size_t count, void* self) {
  auto& request = *static_cast<RangeRequest*>(self);
  try {
    return request.take(std::as_bytes(std::span(data, size * count)));
  } catch (const Error&) {
    request.failure_ = std::current_exception();
  } catch (...) {
    request.failure_ = std::make_exception_ptr(Error(ErrorKind::memory, "no memory for an answer"));
  }
  return 0;  // ends the transfer
}

/// Takes a piece of a body. Returns the number of bytes taken.
std::size_t RangeRequest::take(std::span<const std::byte> bytes) {
  if (answer_.status != 206 && answer_.status != 200) {
    const std::size_t more = std::min(bytes.size(), most_text - text_of_refusal_.size());
    text_of_refusal_.append(reinterpret_cast<const char*>(bytes.data()), more);
    return more;  // less than all ends the transfer
  }
  if (!std::exchange(is_checked_, true)) check_answer();
  // check_answer() has made sure that the range of the answer is within the requested one.
  if (bytes.size() > answer_.range->last + 1 - (offset_ + done_)) {
    throw error(ErrorKind::bad_input, "the server sent more bytes than it says");
  }
  std::memcpy(memory_.data() + done_, bytes.data(), bytes.size());
  done_ += bytes.size();
  IoMeter::of_process().add(bytes.size());
  if (offset_ + done_ <= answer_.range->last) return bytes.size();
  complete_since_ = Clock::now();
  // A server that does not say where its answer ends may keep the connection open for long.
  const bool ends_itself =
      answer_.is_chunked || answer_.content_length == std::uint64_t{done_ - done_before_};
  return ends_itself ? bytes.size() : 0;  // 0 ends the transfer
}

/// Ends a transfer that has brought all its bytes, if the end of a chunked answer does not come.
/// Ends one that has not if the thread has a reason.
int RangeRequest::take_time(void* self, curl_off_t /*total*/, curl_off_t done,
                            curl_off_t /*upload*/, curl_off_t /*uploaded*/) {
  auto& request = *static_cast<RangeRequest*>(self);
  const Clock::time_point now = Clock::now();
  constexpr milliseconds patience(200), between_looks(50);
  if (request.complete_since_) return now - *request.complete_since_ > patience ? 1 : 0;
  // libcurl calls this for each packet, too. Without new bytes, a signal may be the reason.
  const bool is_packet = std::exchange(request.received_, done) != done;
  if (is_packet && now - request.looked_ < between_looks) return 0;
  request.looked_ = now;
  try {
    WaitCheck::look();
    return 0;
  } catch (...) {
    request.failure_ = std::current_exception();
    return 1;
  }
}

/// Throws Error unless the answer has the bytes that were asked for, of the version that is read.
void RangeRequest::check_answer() {
  const std::uint64_t first = offset_ + done_, last = offset_ + memory_.size() - 1;
  if (wants_all_) throw says_no_size();
  if (answer_.status == 200 && first == 0 && answer_.content_length == memory_.size()) {
    answer_.range = {.first = 0, .last = last, .has_range = true, .size = memory_.size()};
  } else if (answer_.status == 200) {
    throw error(ErrorKind::bad_input, "the server sends only the whole of it",
                "it ignores that a range of bytes is asked for", "download it first");
  }
  if (answer_.is_compressed()) {
    throw error(ErrorKind::bad_input,
                "the server sends it compressed (" + answer_.encodings.substr(1) + ")",
                "a range of compressed bytes is no range of the data", "download it first");
  }
  if (!answer_.range || !answer_.range->has_range || answer_.range->first != first ||
      answer_.range->last > last ||
      answer_.range->size.value_or(UINT64_MAX) <= answer_.range->last) {
    throw error(ErrorKind::bad_input, "the server answered with other bytes than were asked for",
                "bytes " + std::to_string(first) + " to " + std::to_string(last) +
                    " were asked for, and the answer does not say that it has them");
  }
  if (answer_.range->last < last &&
      answer_.content_length.value_or(0) > answer_.range->last + 1 - first) {
    throw error(ErrorKind::bad_input, "the server sent more bytes than it says");
  }
  if (object_ != nullptr) return check_version();
  if (!answer_.range->size) {
    throw error(ErrorKind::bad_input, "the server does not say how large it is", {},
                "download it first");
  }
  if (*answer_.range->size > std::uint64_t{INT64_MAX}) {
    throw error(ErrorKind::bad_input, "the server names a size that no file has");
  }
  object_bytes_ = *answer_.range->size;
}

std::optional<milliseconds> RangeRequest::end_try(CURLcode code) {
  try {
    const std::optional<milliseconds> pause = judge(code);
    if (!pause) operation_.reset();
    return pause;
  } catch (...) {
    operation_.reset();
    throw;
  }
}

std::optional<milliseconds> RangeRequest::judge(CURLcode code) {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  // Once all bytes have arrived, it does not matter how the connection ended.
  if (is_checked_ && done_ == memory_.size()) return std::nullopt;
  const std::size_t got = done_ - done_before_;
  if (code != CURLE_OK && !is_refusal(code) && !complete_since_) {
    if (is_passing(code)) return try_again(curl_.easy_strerror(code));
    throw not_reached(code);
  }
  if (is_passing_status(answer_.status)) return try_again(answer_.status_text());
  if (object_ == nullptr && answer_.status == 416 && !wants_all_) return ask_for_all();
  const bool is_empty = answer_.status == 200 && answer_.content_length == 0 && got == 0;
  if (object_ == nullptr && (is_empty || (says_empty_ && answer_.status != 200))) {
    object_bytes_ = 0;
    return std::nullopt;
  }
  if (wants_all_) throw answer_.status == 200 || answer_.status == 416 ? says_no_size() : refused();
  if (object_ != nullptr && (answer_.status == 412 || answer_.status == 416)) {
    check_version();
    throw changed_error(address_->name, "the server answers " + answer_.status_text() +
                                            ": it has another version now");
  }
  if (answer_.status != 206) {
    if (answer_.status == 200) check_answer();
    throw refused();
  }
  if (!is_checked_) check_answer();  // there was no body
  if (done_ == memory_.size()) return std::nullopt;
  return try_again(got == 0 ? "an answer without data" : "a short answer");
}

/// Handles a refusal of the first byte, which may mean that the object is empty. Requests all of
/// it, since some servers refuse ranges of other objects, too, and not all of them say the size.
milliseconds RangeRequest::ask_for_all() {
  const auto& range = answer_.range;
  says_empty_ = range && !range->has_range && range->size == std::uint64_t{0};
  wants_all_ = true;
  tries_ = 0;
  prepare_try();
  return milliseconds(0);
}

/// True if a server, or a proxy on the way to it, has answered that it does not send the object,
/// even if the connection broke afterwards.
bool RangeRequest::is_refusal(CURLcode code) const {
  const bool is_long = code == CURLE_WRITE_ERROR && text_of_refusal_.size() == most_text;
  return answer_.status >= 400 || is_long;
}

/// True for transient failures of a connection. If nothing is known of the object yet, the address
/// may be wrong, and the user who typed it should not wait.
bool RangeRequest::is_passing(CURLcode code) const {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_OPERATION_TIMEDOUT: return object_ != nullptr;
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING: return true;
    default: return false;
  }
}

std::optional<milliseconds> RangeRequest::try_again(std::string why) {
  why_repeated_ = std::move(why);
  // Bytes that arrived are progress, so the tries count anew.
  const bool goes_on = done_ - done_before_ >= least_piece;
  if (goes_on) tries_ = 0;
  if (tries_ >= most_tries) {
    throw error(ErrorKind::input,
                "the server did not send byte " + std::to_string(offset_ + done_) + " in " +
                    std::to_string(tries_) + " tries",
                "the last one ended with: " + why_repeated_,
                "run again later: the server may be busy");
  }
  const auto asked = static_cast<std::int64_t>(info<curl_off_t>(CURLINFO_RETRY_AFTER));
  const milliseconds pause = goes_on ? milliseconds(0) : pause_before(tries_, asked);
  prepare_try();
  return pause;
}

}  // namespace ooc::detail
