#include <ooc/detail/http/remote_object.hpp>

#include "http/range_request.hpp"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <thread>
#include <utility>

namespace ooc {
namespace {

/// Returns a request of this thread. Its connection is kept for the next one: to begin a run takes
/// several small reads, and a new connection as many round trips as two or three of them.
RangeRequest& own_request() {
  thread_local RangeRequest request;
  return request;
}

/// Keeps SIGPIPE, by which the kernel tells that a server has closed a connection, from the calling
/// thread during its lifetime. The threads of the engine block all signals.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~WithoutSigpipe() {
    constexpr timespec at_once{};
    while (!was_pending_ && sigtimedwait(&sigpipe_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t sigpipe_{}, before_{};
  bool was_pending_ = false;
};

/// Performs all tries of a request on this thread.
void perform(RangeRequest& request) {
  const WithoutSigpipe blocked;
  for (;;) {
    const auto pause = request.end_try(curl().easy_perform(request.handle()));
    if (!pause) return;
    std::this_thread::sleep_for(*pause);
  }
}

}  // namespace

RemoteObject::RemoteObject(Address address) : address_(std::move(address)) {
  RangeRequest& request = own_request();
  request.begin(address_);
  perform(request);
  const Answer& answer = request.answer();
  size_ = request.object_bytes();
  version_ = {.etag = answer.etag, .modified = answer.modified};
  const auto modified =
      answer.modified.empty() ? -1 : curl().getdate(answer.modified.c_str(), nullptr);
  constexpr std::int64_t last_year = 9'000'000'000;  // 2255: nanoseconds do not count further
  modified_seconds_ = std::clamp<std::int64_t>(modified, 0, last_year);
}

std::string RemoteObject::fingerprint() const {
  // An entity tag is of one object: another one may have the same. A signature is of one run.
  const std::string object = address_.url.substr(0, address_.url.find('?'));
  return object + '\n' + version_.etag + '\n' + version_.modified;
}

void RemoteObject::read(std::uint64_t offset, std::span<std::byte> memory) const {
  if (memory.empty()) return;
  RangeRequest& request = own_request();
  request.begin(*this, offset, memory);
  perform(request);
}

}  // namespace ooc
