#pragma once

#include <ooc/io/error.hpp>

namespace ooc_run {

/// Returns the error with a hint that a user can type: replaces the fields and functions that the
/// library's hints name by options and commands of ooc-run. Other hints stay as they are.
ooc::Error in_terms_of_options(const ooc::Error& error);

}  // namespace ooc_run
