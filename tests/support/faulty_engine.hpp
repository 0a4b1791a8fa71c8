#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "support/wrapped_engine.hpp"

namespace ooc::test {

/// Where an engine can fail: when it is given a request, by itself while requests are in flight
/// (none of them will be complete any more), or at one request.
enum class EngineCall { start, wait, answer };

/// Does what the engine within does, but for `fault`, which is called first and throws what a
/// broken disk would, or sleeps like a slow one.
class FaultyEngine final : public WrappedEngine {
 public:
  FaultyEngine(std::unique_ptr<Engine> engine, std::function<void(EngineCall)> fault)
      : WrappedEngine(std::move(engine)), fault_(std::move(fault)) {}

  /// `fault` comes at each answer after `good_reads` of them.
  FaultyEngine(std::unique_ptr<Engine> engine, std::size_t good_reads, std::function<void()> fault)
      : FaultyEngine(std::move(engine),
                     [left = good_reads, fault = std::move(fault)](EngineCall call) mutable {
                       if (call != EngineCall::answer) return;
                       if (left == 0) return fault();
                       --left;
                     }) {}

  void start(Request& request) override {
    fault_(EngineCall::start);
    WrappedEngine::start(request);
  }

  Request& wait() override {
    fault_(EngineCall::wait);
    Request& request = WrappedEngine::wait();
    fault_(EngineCall::answer);
    return request;
  }

 private:
  std::function<void(EngineCall)> fault_;
};

}  // namespace ooc::test
