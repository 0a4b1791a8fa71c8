#pragma once

#include <ooc/coordinator.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "support/wrapped_engine.hpp"

namespace ooc::detail::test {

/// Counts the bytes that are written directly.
class DirectWritesEngine final : public WrappedEngine {
 public:
  DirectWritesEngine(std::unique_ptr<Engine> engine, std::atomic<std::uint64_t>& direct)
      : WrappedEngine(std::move(engine)), direct_(direct) {}

  void start(Request& request) override {
    if (request.direct) direct_ += request.bytes;
    WrappedEngine::start(request);
  }

 private:
  std::atomic<std::uint64_t>& direct_;
};

/// Returns the options with which a coordinator counts the bytes that it writes directly.
inline Options counting_direct_writes(Options options, std::atomic<std::uint64_t>& direct) {
  options.make_engine = [&direct](const EngineOptions& wanted) -> std::unique_ptr<Engine> {
    std::unique_ptr<Engine> engine = make_engine(wanted);
    if (!wanted.writes) return engine;
    return std::make_unique<DirectWritesEngine>(std::move(engine), direct);
  };
  return options;
}

}  // namespace ooc::detail::test
