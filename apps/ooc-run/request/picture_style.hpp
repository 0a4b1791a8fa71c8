#pragma once

#include <optional>
#include <string>

#include "cli/arguments.hpp"

namespace ooc_run {

/// How a histogram is drawn.
struct PictureStyle {
  bool logarithmic_counts = false;     // the axis of counts, also on the terminal
  std::optional<std::string> title{};  // default: the name of the data
  std::string value_title = "value";   // of the axis of values
};

PictureStyle read_picture_style(const Arguments& arguments);

}  // namespace ooc_run
