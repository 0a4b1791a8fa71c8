#pragma once

#include "support/fault.hpp"

namespace ooc::detail::test {

/// While it exists, starting a thread fails when `fault` strikes, in libraries too. Linking
/// failing_threads.cpp replaces pthread_create().
class FailingThreads {
 public:
  explicit FailingThreads(Fault& fault) noexcept;
  ~FailingThreads();
  FailingThreads(const FailingThreads&) = delete;
  FailingThreads& operator=(const FailingThreads&) = delete;
};

}  // namespace ooc::detail::test
