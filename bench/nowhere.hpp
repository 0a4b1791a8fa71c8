#pragma once

#include <ooc/detail/engine/engine.hpp>

#include <cstddef>
#include <deque>
#include <string_view>

/// Completes writes without writing.
class Nowhere final : public ooc::detail::Engine {
 public:
  explicit Nowhere(std::size_t depth) : depth_(depth) {}
  void start(ooc::detail::Request& request) override { started_.push_back(&request); }
  ooc::detail::Request& wait() override {
    ooc::detail::Request* const request = started_.front();
    started_.pop_front();
    request->done = request->bytes;
    return *request;
  }
  std::size_t in_flight() const noexcept override { return started_.size(); }
  std::size_t depth() const noexcept override { return depth_; }
  std::string_view name() const noexcept override { return "nowhere"; }

 private:
  std::size_t depth_;
  std::deque<ooc::detail::Request*> started_;
};
