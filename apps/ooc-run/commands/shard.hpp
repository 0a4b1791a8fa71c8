#pragma once

#include "cli/interrupt.hpp"
#include "parts/question.hpp"
#include "request/run_settings.hpp"
#include "request/shard.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

/// Answers a question for one shard of the data, and writes the answer to a part file, for ooc-run
/// merge. Throws ooc::Error.
Outcome run_shard(const RunSettings& settings, const Shard& shard, Question question,
                  const Interrupt& interrupt);

}  // namespace ooc_run
