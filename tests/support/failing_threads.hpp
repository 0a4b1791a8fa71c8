#pragma once

#include "support/fault.hpp"

namespace ooc::test {

/// As long as it lives, no thread can be started, whoever wants to, when `fault` strikes. Linking
/// failing_threads.cpp replaces pthread_create().
class FailingThreads {
 public:
  explicit FailingThreads(Fault& fault) noexcept;
  ~FailingThreads();
  FailingThreads(const FailingThreads&) = delete;
  FailingThreads& operator=(const FailingThreads&) = delete;
};

}  // namespace ooc::test
