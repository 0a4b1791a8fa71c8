#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "support/wrapped_engine.hpp"

namespace ooc::detail::test {

/// The points at which an engine can fail: when it is given a request (`start`), while requests are
/// in flight, none of which will complete (`wait`), or at one completed request (`answer`).
enum class EngineCall { start, wait, answer };

/// Forwards to another engine and calls `fault` at each EngineCall. It may throw the errors of a
/// broken disk, or sleep as a slow disk would.
class FaultyEngine final : public WrappedEngine {
 public:
  FaultyEngine(std::unique_ptr<Engine> engine, std::function<void(EngineCall)> fault)
      : WrappedEngine(std::move(engine)), fault_(std::move(fault)) {}

  /// Calls `fault` at each answer after the first `good_reads`.
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

}  // namespace ooc::detail::test
