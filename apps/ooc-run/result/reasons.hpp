#pragma once

#include <ooc/stats.hpp>
#include <span>
#include <string>
#include <vector>

namespace ooc_run {

/// Returns a reason of the library as a sentence without a full stop. Names options of ooc-run,
/// for example "as many streams as --streams says".
std::string sentence_of(const ooc::Reason& reason);

/// Returns the sentences of all reasons in their order.
std::vector<std::string> sentences_of(std::span<const ooc::Reason> reasons);

/// Returns the reasons without those that repeat an earlier one with other figures, since each pass
/// adds its own.
std::vector<ooc::Reason> without_repetitions(std::span<const ooc::Reason> reasons);

/// Returns a sentence about ranks that computed on the CPU while rank 0 had a GPU; empty if there
/// are none.
std::string ranks_without_gpu(const ooc::Stats& stats);

/// Returns a sentence about the size of chunks if it differs from the requested size (`asked`, in
/// bytes) and the data are larger than that. Empty if no size was requested (0).
std::string rounded_chunk(const ooc::Stats& stats, std::size_t asked);

}  // namespace ooc_run
