#pragma once

#include <ooc/detail/pass/operation.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/simulation/ledger.hpp"
#include "lib/simulation/scenario.hpp"
#include "lib/simulation/slot_owners.hpp"

namespace ooc::detail::test {

/// Records the margins that the operator of a pass saw, and compares them with the inputs.
class MarginLedger {
 public:
  MarginLedger(const Scenario& scenario, const World& world, Complaint& complaint)
      : scenario_(scenario), plan_(scenario.plan()), complaint_(complaint) {
    for (std::size_t i = 0; i < scenario.records.size(); ++i) {
      expected_.push_back(world.seen_of(scenario, i));
    }
  }

  /// Begins another pass.
  void restart() { seen_.assign(plan_.steps() * bytes_of_step(), paint); }

  /// Copies the margins of a step, those of its inputs one after another.
  void copy(Stream& stream, const StepRecords& in, std::size_t step) {
    std::byte* place = seen_.data() + step * bytes_of_step();
    for (std::size_t i = 0; i < in.inputs.size(); ++i) {
      const std::size_t bytes = scenario_.records[i].bytes;
      const std::byte* const end = in.inputs[i].data + in.inputs[i].size;
      const std::size_t before_bytes = in.margin.before * bytes;
      const std::size_t after_bytes = in.margin.after * bytes;
      if (before_bytes != 0) stream.copy(place, in.inputs[i].data, before_bytes);
      place += scenario_.margin.before * bytes;
      if (after_bytes != 0) stream.copy(place, end - after_bytes, after_bytes);
      place += scenario_.margin.after * bytes;
    }
  }

  /// Checks the margins of the steps that lanes have had.
  void check(const Ledger& ledger) {
    for (std::size_t step = 0; step < plan_.steps(); ++step) {
      if (!ledger.had(step)) continue;
      const RecordRange records = plan_.step(step), read = plan_.step_read(step);
      const std::byte* place = seen_.data() + step * bytes_of_step();
      for (std::size_t i = 0; i < expected_.size(); ++i) {
        compare(i, read.first, records.first, place);
        place += scenario_.margin.before * scenario_.records[i].bytes;
        compare(i, records.end(), read.end(), place);
        place += scenario_.margin.after * scenario_.records[i].bytes;
      }
    }
  }

 private:
  std::size_t bytes_of_step() const {
    return (scenario_.margin.before + scenario_.margin.after) * scenario_.record_bytes();
  }

  void compare(std::size_t input, std::uint64_t first, std::uint64_t end, const std::byte* seen) {
    const std::byte* const expected = expected_[input].data();
    const std::size_t bytes = scenario_.records[input].bytes;
    if (!std::equal(expected + first * bytes, expected + end * bytes, seen)) {
      complaint_.add("a wrong margin");
    }
  }

  const Scenario& scenario_;
  SequentialPlan plan_;
  Complaint& complaint_;
  std::vector<std::vector<std::byte>> expected_;  // by input
  std::vector<std::byte> seen_;                   // by step
};

}  // namespace ooc::detail::test
