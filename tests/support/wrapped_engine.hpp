#pragma once

#include <ooc/detail/engine/engine.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ooc::detail::test {

/// Forwards to another engine, for tests that change or watch a part of it.
class WrappedEngine : public Engine {
 public:
  explicit WrappedEngine(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  void start(Request& request) override { engine_->start(request); }
  Request& wait() override { return engine_->wait(); }
  std::size_t in_flight() const noexcept override { return engine_->in_flight(); }
  std::size_t depth() const noexcept override { return engine_->depth(); }
  std::string_view name() const noexcept override { return engine_->name(); }
  std::string note() const override { return engine_->note(); }
  std::string remark() const override { return engine_->remark(); }

 private:
  std::unique_ptr<Engine> engine_;
};

}  // namespace ooc::detail::test
