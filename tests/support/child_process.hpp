#pragma once

#include <gtest/gtest.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace ooc::detail::test {

/// Runs `body` in a child process, in which it may give up resources. It must return true.
template <class Body>
void expect_in_child(Body&& body) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool right = false;
    try {
      right = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "unexpected: %s\n", error.what());
    }
    std::_Exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "wait status " << status;
}

/// Runs `body` in a child process, which must end by SIGKILL.
template <class Body>
void expect_killed_child(Body&& body) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    try {
      body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "unexpected: %s\n", error.what());
    }
    std::_Exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "wait status " << status;
}

using CallFilter = std::array<sock_filter, 7>;

/// Returns a seccomp filter that gives a system call this answer and allows all others. Calls get
/// the answer only if argument number `argument` has all bits of `mask` (0: always).
inline CallFilter filter_of_call(long number, std::uint32_t answer, unsigned argument,
                                 std::uint32_t mask) {
  const auto low_word_of_argument =
      static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * argument);
  return {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low_word_of_argument),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, mask, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
}

inline sock_fprog program_of(const CallFilter& filter) {
  // The kernel copies the filter and does not write to it.
  return {static_cast<unsigned short>(filter.size()), const_cast<sock_filter*>(filter.data())};
}

/// Makes the kernel refuse a system call with this errno from now on, as in many containers. This
/// cannot be undone, so call it in a child process. `argument` and `mask` as in filter_of_call().
inline void refuse_system_call(long number, int errno_value, unsigned argument = 0,
                               std::uint32_t mask = 0) {
  const auto answer = static_cast<std::uint32_t>(SECCOMP_RET_ERRNO | errno_value);
  const auto filter = filter_of_call(number, answer, argument, mask);
  const sock_fprog program = program_of(filter);
  const bool installed = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  if (!installed) std::abort();
}

}  // namespace ooc::detail::test
