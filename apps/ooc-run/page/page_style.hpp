#pragma once

#include <string_view>

namespace ooc_run {

/// The style sheet of a page about a run. It follows the system's light or dark mode, and supports
/// screens from a width of 360 pixels, and printing.
extern const std::string_view page_style;

}  // namespace ooc_run
