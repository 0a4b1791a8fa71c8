#pragma once

#include <memory>
#include <ooc/coordinator.hpp>

namespace ooc_run {

/// Destroys a coordinator, unless one of its devices is still starting, since waiting for that
/// would delay the result. Such a coordinator stays until the process ends. Thread-safe.
void destroy_unless_starting(std::unique_ptr<ooc::Coordinator> coordinator);

/// Ends the process with this code, without destructors, if a device may be starting. Otherwise
/// returns the code.
int end_unless_finished(int code);

}  // namespace ooc_run
