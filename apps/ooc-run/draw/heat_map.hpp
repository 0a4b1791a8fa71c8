#pragma once

#include <ooc/histogram_2d.hpp>
#include <string>

#include "cli/terminal.hpp"

namespace ooc_run {

/// Titles and scale of a picture of a histogram of pairs.
struct HeatMap {
  std::string title;
  std::string x_title = "x", y_title = "y";
  bool logarithmic = false;  // the scale of the counts
};

/// Draws the cells of a histogram, which has some, as text: in colours if the terminal has them,
/// else in shades. A field without pairs is empty. The first line describes the cells.
std::string draw_heat_map(const ooc::Histogram2d& histogram, const Terminal& terminal,
                          bool logarithmic);

/// Draws an SVG document with a field for each group of cells that has pairs. The output is
/// deterministic.
std::string plot_heat_map(const ooc::Histogram2d& histogram, const HeatMap& map);

}  // namespace ooc_run
