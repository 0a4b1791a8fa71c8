#pragma once

#include <functional>

namespace ooc_run {

/// Runs `body` on a thread whose stack does not depend on `ulimit -s`, and returns its result.
/// Threads that are started later have stacks of the same size. Signals that `body` does not block
/// are delivered to its thread.
///
/// A failed allocation in `body` never aborts the program. The first failure frees a reserve
/// of memory for destructors and messages. If an allocation fails nevertheless where no
/// exception may be thrown, the program ends with the exit code and the message of
/// Error(memory).
int run_with_scarce_memory(const std::function<int()>& body);

}  // namespace ooc_run
