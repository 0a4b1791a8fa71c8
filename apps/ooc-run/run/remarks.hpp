#pragma once

#include <ooc/coordinator.hpp>
#include <string>
#include <vector>

#include "cli/fact_table.hpp"
#include "request/run_settings.hpp"

namespace ooc_run {

/// Facts and reasons that a command adds to its explanation.
struct Remarks {
  std::vector<FactRow> facts{};        // before those of the explanation
  std::vector<std::string> reasons{};  // likewise
};

/// Returns the files of --plot, --trace and --report, which the run would write. Tests that they
/// can be written, and leaves nothing behind. Throws Error(output) if one cannot.
std::vector<FactRow> try_side_files(const SideFiles& files);

/// Returns a row about the file of a checkpoint; empty without a checkpoint. Throws the Error of a
/// run if another file has that name.
std::vector<FactRow> checkpoint_row(const ooc::Checkpoint& checkpoint);

}  // namespace ooc_run
