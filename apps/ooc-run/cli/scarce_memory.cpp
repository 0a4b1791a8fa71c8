#include "cli/scarce_memory.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <ooc/detail/base/blocked_signals.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>
#include <string_view>
#include <system_error>
#include <thread>

#include "cli/failure.hpp"
#include "cli/terminal.hpp"

namespace ooc_run {
namespace {

// The first part is freed when an allocation fails, which is then tried again. The second part is
// freed at the next failure, for the handling of the exception.
constexpr std::size_t reserve_bytes = ooc::detail::MiB;
std::array<std::atomic<std::byte*>, 2> reserve{};

void use_reserve() {
  const auto free_part = [](std::atomic<std::byte*>& part) {
    std::byte* const memory = part.exchange(nullptr);
    if (memory != nullptr) std::allocator<std::byte>().deallocate(memory, reserve_bytes);
    return memory != nullptr;
  };
  if (free_part(reserve[0])) return;
  free_part(reserve[1]);
  throw std::bad_alloc();
}

/// Prints an error about memory, without allocating memory, and ends the process.
[[noreturn]] void end_without_memory(std::string_view what) {
  for (const std::string_view piece : {std::string_view("ooc-run: error: "), what,
                                       std::string_view("\n  hint: --memory and --chunk bound what "
                                                        "is used\n")}) {
    print_to_stderr(piece);
  }
  _exit(exit_code_of(ooc::ErrorKind::memory));
}

/// The terminate handler: an exception cannot propagate further.
[[noreturn]] void end_after_exception() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end_without_memory("out of memory");
  } catch (const ooc::Error& error) {
    if (error.kind() == ooc::ErrorKind::memory) end_without_memory(error.what());
  } catch (...) {
  }
  std::abort();
}

/// Sets the stack size of all threads that start from now on, including those of libraries.
void set_stack_size() {
  constexpr std::size_t least = ooc::detail::MiB;
  rlimit address_space{};
  const bool is_limited =
      getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY;
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_setstacksize(&attributes, is_limited ? least : std::max(bytes, least));
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

}  // namespace

int run_with_scarce_memory(const std::function<int()>& body) {
  std::set_terminate(end_after_exception);
  for (auto& part : reserve) part = std::allocator<std::byte>().allocate(reserve_bytes);
  std::set_new_handler(use_reserve);
  set_stack_size();
  int code = 0;
  try {
    // This thread only waits. If it blocked them later, one that the other thread has blocked
    // meanwhile to wait for it would end the process.
    const ooc::detail::BlockedSignals blocked;
    std::thread thread([&] {
      blocked.unblock_here();
      code = body();
    });
    thread.join();
  } catch (const std::system_error&) {
    end_without_memory("no thread can be started");
  }
  return code;
}

}  // namespace ooc_run
