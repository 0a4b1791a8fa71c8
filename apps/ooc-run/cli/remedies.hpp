#pragma once

#include <ooc/error.hpp>
#include <string>
#include <string_view>

namespace ooc_run {

/// Returns the error with remedies that a user of ooc-run can type: all of its advice becomes the
/// hint, in terms of the options of `command`. Remedies for which it has no option are left out. An
/// empty `command` stands for any.
ooc::Error in_terms_of_options(const ooc::Error& error, std::string_view command = {});

}  // namespace ooc_run
