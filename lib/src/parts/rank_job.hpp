#pragma once

#include <ooc/detail/parts/resumable_job.hpp>

#include <cstddef>
#include <span>

namespace ooc::detail {

/// Runs the share of a job that this rank has of it, as run_divided() does.
Stats run_among_ranks(ResumableJob& job, std::span<const PassInput> inputs, std::size_t partition,
                      const PassOptions& wanted, CheckpointFile& file,
                      std::span<const PartFile* const> saved, Ranks& ranks);

}  // namespace ooc::detail
