#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "support/wrapped_engine.hpp"

namespace ooc::test {

/// Reads like the engine it wraps until `good_reads` requests are complete; then each further one
/// calls `fault` first, which throws what a broken disk would, or sleeps like a slow one.
class FaultyEngine final : public WrappedEngine {
 public:
  FaultyEngine(std::unique_ptr<Engine> engine, std::size_t good_reads, std::function<void()> fault)
      : WrappedEngine(std::move(engine)), good_reads_(good_reads), fault_(std::move(fault)) {}

  Request& wait() override {
    Request& request = WrappedEngine::wait();
    if (reads_++ >= good_reads_) fault_();
    return request;
  }

 private:
  std::size_t good_reads_;
  std::function<void()> fault_;
  std::size_t reads_ = 0;
};

}  // namespace ooc::test
