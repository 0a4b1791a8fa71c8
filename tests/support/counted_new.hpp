#pragma once

#include <cstdint>

#include "support/fault.hpp"

namespace ooc::detail::test {

// Number of calls of operator new so far. Linking counted_new.cpp replaces the operator.
std::uint64_t count_of_new() noexcept;                 // by all threads
std::uint64_t count_of_new_by_this_thread() noexcept;  // by the caller

/// Runs `work` twice and returns the number of calls of operator new in the second run.
template <class Work>
std::uint64_t count_of_new_when_repeated(Work&& work) {
  work();
  const std::uint64_t before = count_of_new();
  work();
  return count_of_new() - before;
}

/// While it exists, operator new fails in every thread when `fault` strikes.
class FailingNew {
 public:
  explicit FailingNew(Fault& fault) noexcept;
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
};

}  // namespace ooc::detail::test
