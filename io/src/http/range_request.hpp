#pragma once

#include "http/answer.hpp"
#include "http/curl.hpp"

#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/http/address.hpp>
#include <ooc/detail/http/remote_object.hpp>
#include <ooc/error.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace ooc::detail {

/// Requests a range of an object, in as many tries as necessary: answers may be short, connections
/// break, and servers are busy. Used by one thread at a time. Each try is one transfer of handle(),
/// which curl_easy_perform() or a multi handle performs. The object can be used again for other
/// ranges, and then keeps its connection.
class RangeRequest {
 public:
  RangeRequest();
  RangeRequest(const RangeRequest&) = delete;
  RangeRequest& operator=(const RangeRequest&) = delete;
  ~RangeRequest();

  /// Begins a request for the first byte of an object whose size and version are unknown.
  void begin(const Address& address);

  /// Begins a request for a range of an object. `object` and `memory` must outlive it.
  void begin(const RemoteObject& object, std::uint64_t offset, std::span<std::byte> memory);

  /// Returns the handle of the next try.
  CURL* handle() const noexcept { return handle_.get(); }

  /// Judges a try that has ended with `code`. Returns nothing if the request is complete, else the
  /// time to wait before the next try, for which handle() is prepared. Throws Error if the request
  /// has failed.
  std::optional<std::chrono::milliseconds> end_try(CURLcode code);

  std::size_t tries() const noexcept { return tries_; }
  /// Returns the reason for the latest repetition: "503 Service Unavailable".
  const std::string& why_repeated() const noexcept { return why_repeated_; }

  /// Returns the header of the last answer.
  const Answer& answer() const noexcept { return answer_; }

  /// Returns the size of the object (bytes), after the first request of begin(address).
  std::uint64_t object_bytes() const noexcept { return object_bytes_; }

 private:
  using Clock = std::chrono::steady_clock;

  static std::size_t take_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t take_body(char* data, std::size_t size, std::size_t count, void* self);
  static int take_time(void* self, curl_off_t total, curl_off_t done, curl_off_t upload,
                       curl_off_t uploaded);

  template <class Value>
  void set(CURLoption option, Value value) {
    if (curl_.easy_setopt(handle(), option, value) != CURLE_OK) {
      throw Error(ErrorKind::internal, "libcurl refuses option " + std::to_string(option));
    }
  }
  /// Returns curl_easy_getinfo() for the last try; 0 if libcurl does not know the value.
  template <class Value>
  Value info(CURLINFO which) const {
    Value value = 0;
    curl_.easy_getinfo(handle(), which, &value);
    return value;
  }
  std::optional<std::chrono::milliseconds> judge(CURLcode code);
  void sign();
  void begin_range(const Address& address, std::uint64_t offset, std::span<std::byte> memory);
  void prepare_try();
  void add_header(const std::string& line);
  std::size_t take(std::span<const std::byte> bytes);
  void check_answer();
  void check_version() const;
  bool is_passing(CURLcode code) const;
  std::optional<std::chrono::milliseconds> try_again(std::string why);
  std::chrono::milliseconds ask_for_all();
  Error error(ErrorKind kind, const std::string& what, std::string why = {},
              std::string hint = {}) const;
  bool is_refusal(CURLcode code) const;
  Error says_no_size() const;
  Error refused() const;
  Error not_reached(CURLcode code) const;

  const Curl& curl_;
  std::unique_ptr<CURL, decltype(&::curl_easy_cleanup)> handle_;
  curl_slist* headers_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> message_{};

  std::optional<IoOperation> operation_{};  // while it is not complete
  const Address* address_ = nullptr;
  const RemoteObject* object_ = nullptr;  // null: nothing is known of it
  std::byte first_byte_{};                // of an object of which nothing is known
  std::uint64_t offset_ = 0;
  std::span<std::byte> memory_{};
  std::size_t done_ = 0;         // bytes of `memory_`
  std::size_t done_before_ = 0;  // value of done_ before this try
  bool wants_all_ = false;       // after a range was refused
  bool says_empty_ = false;      // the refusal says "bytes */0"
  std::size_t tries_ = 0;
  std::string why_repeated_;
  std::uint64_t object_bytes_ = 0;

  Answer answer_;
  bool is_checked_ = false;                            // the answer of this try
  std::optional<Clock::time_point> complete_since_{};  // all bytes that it names are there
  Clock::time_point looked_{};                         // for a reason to end: see WaitCheck
  curl_off_t received_ = 0;                            // bytes of this try
  std::exception_ptr failure_{};  // found in a call of libcurl, into which it must not be thrown
  std::string text_of_refusal_;   // the beginning of the body of an answer that has no data
};

}  // namespace ooc::detail
