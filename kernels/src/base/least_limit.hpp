#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/error.hpp>

#include <functional>

namespace ooc::detail {

/// Returns an error about a limit of memory, with the least limit (in whole KiB) for which `fits`
/// is true in its first remedy. Other errors, and those about a limit that `limits` does not set,
/// are returned as they are.
Error with_least_limit(const Error& error, Options limits,
                       const std::function<bool(const Options&)>& fits);

}  // namespace ooc::detail
