#pragma once

#include <functional>

namespace ooc_run {

/// Runs `body` on a thread whose stack does not depend on `ulimit -s`, and returns what it returns.
/// The stacks of all threads that are started from now on are as large. Signals that `body` does
/// not block are for that thread.
///
/// An allocation that fails in it never aborts the program. It has a reserve of memory, which the
/// first failure frees, so that destructors and messages have some. If one fails nevertheless
/// where no exception may be thrown, the program ends with the exit code and the message of
/// Error(memory).
int run_with_scarce_memory(const std::function<int()>& body);

}  // namespace ooc_run
