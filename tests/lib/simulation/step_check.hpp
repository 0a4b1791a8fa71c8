#pragma once

#include <ooc/detail/pass/operation.hpp>
#include <ooc/detail/pool/plan.hpp>

#include <cstddef>
#include <cstdint>

#include "lib/simulation/scenario.hpp"

namespace ooc::detail::test {

/// True if a step has the records that the plan says, aligned.
inline bool is_right(const StepRecords& in, const SequentialPlan& plan, const Scenario& scenario) {
  const RecordRange records = plan.step(in.index), read = plan.step_read(in.index);
  bool is_right = in.first == records.first && in.count == records.count &&
                  in.first - in.margin.before == read.first &&
                  in.count_with_margin() == read.count &&
                  in.inputs.size() == scenario.records.size();
  for (std::size_t i = 0; is_right && i < in.inputs.size(); ++i) {
    const RecordShape& record = scenario.records[i];
    const auto address = reinterpret_cast<std::uintptr_t>(in.inputs[i].data);
    is_right = in.inputs[i].size == read.count * record.bytes && address % record.alignment == 0;
  }
  return is_right;
}

}  // namespace ooc::detail::test
