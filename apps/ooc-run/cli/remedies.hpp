#pragma once

#include <ooc/error.hpp>
#include <string>
#include <string_view>

namespace ooc_run {

/// Returns the error with a hint for users of ooc-run: expresses its remedies as options of
/// `command`, and adds them to its hint. Leaves out remedies without a corresponding option. If
/// `command` is empty, uses the options of any command.
ooc::Error in_terms_of_options(const ooc::Error& error, std::string_view command = {});

}  // namespace ooc_run
