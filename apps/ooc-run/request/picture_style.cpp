#include "request/picture_style.hpp"

namespace ooc_run {

PictureStyle read_picture_style(const Arguments& arguments) {
  const auto as_it_is = [](const std::string& text) { return text; };
  PictureStyle style;
  style.logarithmic_counts = arguments.has("log-scale");
  style.title = arguments.get("title", as_it_is);
  style.value_title = arguments.get("xlabel", as_it_is).value_or(style.value_title);
  return style;
}

}  // namespace ooc_run
