#pragma once

#include <ooc/source.hpp>
#include <span>

#include "cli/interrupt.hpp"
#include "parts/question.hpp"
#include "request/run_settings.hpp"
#include "request/shard.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

/// Answers a new question for one shard of the sources, and writes the answer to a part file, for
/// ooc-run merge. Throws ooc::Error.
Outcome run_shard(const RunSettings& settings, const Shard& shard, Question& question,
                  std::span<ooc::Source> sources, const Interrupt& interrupt);

/// The same for the files of the settings as one source.
Outcome run_shard(const RunSettings& settings, const Shard& shard, Question& question,
                  const Interrupt& interrupt);

}  // namespace ooc_run
