#include <ooc/detail/http/remote_object.hpp>

#include "http/range_request.hpp"
#include "http/without_sigpipe.hpp"

#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/base/wait_check.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace ooc::detail {
namespace {

/// A request of this thread, which keeps its connection. A run begins with several small reads, and
/// a new connection takes as many round trips as two or three of them. While it waits, WaitCheck
/// may run a function that needs one, too: that gets a request of its own.
class OwnRequest {
 public:
  OwnRequest() : is_outermost_(!std::exchange(is_used(), true)) {}
  ~OwnRequest() {
    if (is_outermost_) is_used() = false;
  }
  OwnRequest(const OwnRequest&) = delete;
  OwnRequest& operator=(const OwnRequest&) = delete;

  RangeRequest& get() {
    thread_local RangeRequest kept;
    if (is_outermost_) return kept;
    return other_ ? *other_ : other_.emplace();
  }

 private:
  static bool& is_used() {
    thread_local bool is_used = false;
    return is_used;
  }

  bool is_outermost_;
  std::optional<RangeRequest> other_{};
};

/// Waits before the next try, which may be half a minute: the server names the time.
void pause_for(std::chrono::milliseconds pause) {
  constexpr std::chrono::milliseconds between_looks(50);
  for (; pause.count() > 0; pause -= between_looks) {
    WaitCheck::look();
    std::this_thread::sleep_for(std::min(pause, between_looks));
  }
}

/// Performs all tries of a request on this thread.
void perform(RangeRequest& request) {
  const WithoutSigpipe blocked;
  const IoWait waits(IoPeer::server);
  for (;;) {
    const auto pause = request.end_try(curl().easy_perform(request.handle()));
    if (!pause) return;
    pause_for(*pause);
  }
}

}  // namespace

RemoteObject::RemoteObject(Address address) : address_(std::move(address)) {
  OwnRequest own;
  RangeRequest& request = own.get();
  request.begin(address_);
  perform(request);
  const Answer& answer = request.answer();
  size_ = request.object_bytes();
  version_ = {.etag = answer.etag, .modified = answer.modified};
  const auto modified =
      answer.modified.empty() ? -1 : curl().getdate(answer.modified.c_str(), nullptr);
  constexpr std::int64_t last_year = 9'000'000'000;  // 2255: the limit of nanoseconds in 64 bits
  modified_seconds_ = std::clamp<std::int64_t>(modified, 0, last_year);
}

std::string RemoteObject::fingerprint() const {
  // Different objects may have the same entity tag. The query may be a signature, which changes.
  const std::string object = address_.url.substr(0, address_.url.find('?'));
  return object + '\n' + version_.etag + '\n' + version_.modified;
}

void RemoteObject::read(std::uint64_t offset, std::span<std::byte> memory) const {
  if (memory.empty()) return;
  OwnRequest own;
  RangeRequest& request = own.get();
  request.begin(*this, offset, memory);
  perform(request);
}

}  // namespace ooc::detail
