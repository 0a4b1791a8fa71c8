#pragma once

#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "child_process.hpp"

namespace ooc::test {

/// What a test does just before a system call: it gets the call's arguments, and returns 0 if the
/// kernel is to make the call, or the errno that it fails with instead.
using BeforeCall = std::function<int(const __u64* arguments)>;

/// From here on `before` runs in a thread of its own each time this thread, or one that it starts,
/// makes a system call. The caller waits meanwhile, so races become a fixed order. What both
/// threads use must be atomic all the same, for ThreadSanitizer does not see that. This cannot be
/// undone, so call it in a child process, once. `argument` and `mask` as in refuse_system_call().
inline void watch_system_call(long number, BeforeCall before, unsigned argument = 0,
                              std::uint32_t mask = 0) {
  std::promise<int> listener;
  // Started first: what it calls must not be watched.
  std::thread([before = std::move(before), future = listener.get_future()]() mutable {
    const int descriptor = future.get();
    for (;;) {
      seccomp_notif call{};
      if (::ioctl(descriptor, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
        if (errno == EINTR) continue;
        return;
      }
      seccomp_notif_resp answer{};
      answer.id = call.id;
      answer.error = -before(call.data.args);
      if (answer.error == 0) answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
      ::ioctl(descriptor, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
  }).detach();
  const auto filter = filter_of_call(number, SECCOMP_RET_USER_NOTIF, argument, mask);
  const sock_fprog program = program_of(filter);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) std::abort();
  const long descriptor =
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (descriptor < 0) std::abort();
  listener.set_value(static_cast<int>(descriptor));
}

}  // namespace ooc::test
