#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ooc::detail::test {

/// A generator of random numbers (splitmix64), which any number of threads may share.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed * 0x9e3779b97f4a7c15 + 1) {}

  std::uint64_t operator()() noexcept {
    std::uint64_t word = state_.fetch_add(0x9e3779b97f4a7c15, std::memory_order_relaxed);
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
  }

  std::size_t below(std::size_t end) noexcept { return (*this)() % end; }
  std::size_t between(std::size_t least, std::size_t most) noexcept {
    return least + below(most - least + 1);
  }
  bool one_in(std::size_t count) noexcept { return below(count) == 0; }

 private:
  std::atomic<std::uint64_t> state_;
};

}  // namespace ooc::detail::test
