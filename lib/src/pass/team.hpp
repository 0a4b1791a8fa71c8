#pragma once

#include <ooc/detail/pool/blocks.hpp>
#include <ooc/stats.hpp>

#include <memory>
#include <span>
#include <string>

#include "pass/station.hpp"

namespace ooc::detail {

/// Returns the reason why several stations cannot share a pass; empty if they can.
std::string why_not_shared(std::span<const std::unique_ptr<Station>> stations, const PassJob& job);

/// Runs a pass on stations that share its records: each takes the next of the `blocks` when it has
/// nothing left to read. A device that has not started takes none, so that one that has does not
/// wait for it. If the pass is stopped, the blocks that were taken are done. If a device fails, so
/// does the pass. The operation is called by the lanes of all stations.
Stats run_shared(std::span<const std::unique_ptr<Station>> stations, const PassJob& job,
                 Blocks& blocks);

}  // namespace ooc::detail
