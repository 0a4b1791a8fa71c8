#pragma once

#include <string_view>

namespace ooc_run {

/// The style sheet of a page about a run: light or dark, as the reader's system is, for screens
/// from 360 pixels on, and for paper.
extern const std::string_view page_style;

}  // namespace ooc_run
