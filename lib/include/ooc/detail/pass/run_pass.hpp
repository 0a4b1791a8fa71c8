#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/detail/pass/operation.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/detail/pass/reservation.hpp>

#include <cstddef>
#include <span>

// The passes of a coordinator, without types.

namespace ooc::detail {

class Blocks;

/// Keeps other passes out until the reservation dies. Throws Error(usage) if the coordinator is
/// busy.
[[nodiscard]] OOC_API Reservation begin_pass(Coordinator& coordinator);

/// Reserves the first device and its memory for a job that is no pass, such as a check of a result.
/// The pool and the lanes' buffers of earlier passes are freed; the next pass allocates anew.
/// Temporaries of operators stay. Throws Error(usage) if the coordinator is busy.
[[nodiscard]] OOC_API Reservation reserve(Coordinator& coordinator);

/// The same for several devices, such as those of matmul(): options_of_each() says what each may
/// use of the memory on the host.
[[nodiscard]] OOC_API Reservation reserve(Coordinator& coordinator,
                                          std::span<Device* const> devices);

/// Returns the options for each of `devices` devices that work at once: with a part of the memory.
OOC_API Options options_of_each(const Coordinator& coordinator, std::size_t devices);

/// Sends all records of the inputs through `operation`, and the results to `outputs`, which the
/// caller publishes; a pass may have no inputs (see Operation::records()) or no outputs. Returns
/// when all threads of the pass have ended, and rethrows the first error of any of them. Throws
/// Error: `usage` if the coordinator runs a pass already, for a checksum unless there is one input,
/// or without inputs and outputs; `bad_input` if the inputs have different numbers of records;
/// `interrupted` if the pass was stopped (see PassOptions::keep_partial). An output that was
/// stopped is incomplete, and is to be discarded.
///
/// The caller keeps the reservation beyond the pass, until it has freed the memory of lanes that
/// the operation holds. The calling thread is bound to the device until then.
OOC_API Stats run_pass(Coordinator& coordinator, Reservation& pass,
                       std::span<const PassInput> inputs, Operation& operation,
                       const PassOptions& wanted = {}, std::span<const Output> outputs = {});

/// Like run_pass() above, for one input and an operation that holds no memory of lanes.
OOC_API Stats run_pass(Coordinator& coordinator, const Source& source, RecordShape record,
                       Operation& operation, const PassOptions& wanted = {},
                       std::span<const Output> outputs = {});

/// Runs the share that this process has of a pass: `blocks` gives out its records, of which
/// OutcomeStats::covers are done. Throws Error as run_pass() does, and `usage` for a pass that
/// cannot be shared, but not `interrupted`.
OOC_API Stats run_share(Coordinator& coordinator, Reservation& pass,
                        std::span<const PassInput> inputs, Operation& operation,
                        const PassOptions& wanted, std::span<const Output> outputs, Blocks& blocks);

/// Throws Error(usage) if there is a checkpoint, for jobs that do not support it.
OOC_API void require_none(const Checkpoint& checkpoint);

}  // namespace ooc::detail
