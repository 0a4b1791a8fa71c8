#pragma once

#include <ooc/detail/pass/operation.hpp>
#include <ooc/target.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "lib/simulation/scenario.hpp"
#include "pass/appender.hpp"
#include "sizing/layout.hpp"

namespace ooc::detail::test {

/// The output of a simulated pass: the file of the world or, for a filter, one that is appended to.
class SimulatedOutput {
 public:
  /// `window`: of the pool. All references must outlive it.
  SimulatedOutput(World& world, const Scenario& scenario, const SequentialPlan& reads,
                  const ResultPlaces& results, std::size_t window)
      : appended_(kept_file(world, scenario, results.bytes * reads.steps())),
        output_{appended_ ? *appended_ : world.target, scenario.output_element_bytes} {
    if (scenario.selects) appender_.emplace(std::span(&output_, 1), reads, window);
  }
  SimulatedOutput(const SimulatedOutput&) = delete;
  SimulatedOutput& operator=(const SimulatedOutput&) = delete;

  const Output& output() const { return output_; }
  Appender* appender() { return appender_ ? &*appender_ : nullptr; }

 private:
  static std::unique_ptr<TargetFile> kept_file(const World& world, const Scenario& scenario,
                                               std::uint64_t most_bytes) {
    if (!scenario.selects) return nullptr;
    const Target target{.path = world.dir.path() / "kept.u1", .type = {ElementType::u1}};
    return std::make_unique<TargetFile>(target, most_bytes, std::span<const Source* const>{},
                                        Purpose::append);
  }

  std::unique_ptr<TargetFile> appended_;
  Output output_;
  std::optional<Appender> appender_;
};

}  // namespace ooc::detail::test
