#pragma once

#include <ooc/detail/engine/engine.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace ooc::detail::test {

/// Completes requests in random order. Instead of a disk, `transfer` carries out each request, at a
/// random time between start() and the wait() that returns it.
class RandomEngine final : public Engine {
 public:
  RandomEngine(std::size_t depth, Random& random, std::function<void(Request&)> transfer)
      : depth_(depth), random_(random), transfer_(std::move(transfer)) {}

  void start(Request& request) override {
    const bool at_once = random_.below(2) == 0;
    if (at_once) transfer_(request);
    started_.push_back({&request, at_once});
  }

  Request& wait() override {
    std::swap(started_[random_.below(started_.size())], started_.back());
    const Started answered = started_.back();
    started_.pop_back();
    if (!answered.is_through) transfer_(*answered.request);
    answered.request->done = answered.request->bytes;
    return *answered.request;
  }

  Request* wait_for(std::chrono::microseconds /*patience*/) override {
    return random_.one_in(2) ? nullptr : &wait();
  }

  std::size_t in_flight() const noexcept override { return started_.size(); }
  std::size_t depth() const noexcept override { return depth_; }
  std::string_view name() const noexcept override { return "random"; }

 private:
  struct Started {
    Request* request;
    bool is_through;
  };

  std::size_t depth_;
  Random& random_;
  std::function<void(Request&)> transfer_;
  std::vector<Started> started_;
};

}  // namespace ooc::detail::test
