#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/error.hpp>

#include <functional>

namespace ooc::detail {

/// Adds to an error about a memory limit, in its first remedy, the lowest limit (in whole KiB) for
/// which `fits` returns true. Returns other errors unchanged, and also errors about a limit that
/// `limits` does not set.
Error with_least_limit(const Error& error, Options limits,
                       const std::function<bool(const Options&)>& fits);

}  // namespace ooc::detail
