#pragma once

#include <memory>
#include <ooc/coordinator.hpp>

namespace ooc_run {

/// Destroys a coordinator, unless one of its devices is still starting: to wait for that would hold
/// the result back. Such a coordinator stays until the process ends. Any thread.
void destroy_unless_starting(std::unique_ptr<ooc::Coordinator> coordinator);

/// Ends the process with this code, without destructors, if a device may be starting. Otherwise
/// returns the code.
int end_unless_finished(int code);

}  // namespace ooc_run
