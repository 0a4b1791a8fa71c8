#include "support/failing_threads.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace {

std::atomic<ooc::detail::test::Fault*> fault_of_threads{nullptr};

}  // namespace

ooc::detail::test::FailingThreads::FailingThreads(Fault& fault) noexcept {
  fault_of_threads = &fault;
}

ooc::detail::test::FailingThreads::~FailingThreads() {
  fault_of_threads = nullptr;
}

/// Calls the function of the C library, or of a sanitizer, unless the fault strikes.
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  ooc::detail::test::Fault* const fault = fault_of_threads;
  if (fault != nullptr && fault->strikes()) return EAGAIN;
  static const auto next =
      reinterpret_cast<decltype(&::pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  return next(thread, attributes, start, argument);
}
