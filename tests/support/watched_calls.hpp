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

namespace ooc::detail::test {

/// Called just before a system call, with its arguments. Returns 0 if the kernel is to make the
/// call, or the errno with which it fails instead.
using BeforeSystemCall = std::function<int(const __u64* arguments)>;

/// Makes a separate thread run `before` each time this thread, or one that it starts, makes the
/// system call. The caller waits meanwhile, so races get a fixed order. Data that both threads use
/// must be atomic all the same, since ThreadSanitizer does not see that order. This cannot be
/// undone, so call it once, in a child process. `argument` and `mask` as in filter_of_call().
inline void watch_system_call(long number, BeforeSystemCall before, unsigned argument = 0,
                              std::uint32_t mask = 0) {
  std::promise<int> listener;
  // Started before the filter is installed, so that its own calls are not watched.
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

}  // namespace ooc::detail::test
