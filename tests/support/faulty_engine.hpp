#pragma once

#include <ooc/io/engine.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ooc::test {

/// Reads like the engine it wraps until `good_reads` requests are complete; then each further one
/// calls `fault` first, which throws what a broken disk would, or sleeps like a slow one.
class FaultyEngine final : public Engine {
 public:
  FaultyEngine(std::unique_ptr<Engine> engine, std::size_t good_reads, std::function<void()> fault)
      : engine_(std::move(engine)), good_reads_(good_reads), fault_(std::move(fault)) {}

  void start(Request& request) override { engine_->start(request); }

  Request& wait() override {
    Request& request = engine_->wait();
    if (reads_++ >= good_reads_) fault_();
    return request;
  }

  std::size_t in_flight() const noexcept override { return engine_->in_flight(); }
  std::size_t depth() const noexcept override { return engine_->depth(); }
  std::string_view name() const noexcept override { return engine_->name(); }
  std::string note() const override { return engine_->note(); }

 private:
  std::unique_ptr<Engine> engine_;
  std::size_t good_reads_;
  std::function<void()> fault_;
  std::size_t reads_ = 0;
};

}  // namespace ooc::test
