#include "draw/page_chart.hpp"

#include <fmt/core.h>

#include "draw/svg.hpp"

namespace ooc_run {

PageChart::PageChart(double pixels, std::string_view label, std::string_view css_class)
    : pixels_(pixels), label_(escape_xml(label)), css_class_(css_class) {}

void PageChart::tick_below(double position, std::string_view label) {
  grid_ +=
      fmt::format("<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"0\" y2=\"{1:.0f}\" class=\"grid\"/>\n",
                  x(position), height);
  labels_ += fmt::format("<span class=\"tick-below\" style=\"left:{:.3f}%\">{}</span>\n",
                         100 * position, escape_xml(label));
}

void PageChart::tick_beside(double position, std::string_view label) {
  grid_ +=
      fmt::format("<line x1=\"0\" x2=\"{1:.0f}\" y1=\"{0:.2f}\" y2=\"{0:.2f}\" class=\"grid\"/>\n",
                  y(position), width);
  label_beside("tick-beside", position, label);
}

void PageChart::name_beside(double position, std::string_view name) {
  label_beside("tick-beside", position, name);
}

void PageChart::group_beside(double position, std::string_view name) {
  label_beside("group-beside", position, name);
}

void PageChart::label_beside(std::string_view css_class, double position, std::string_view text) {
  labels_ += fmt::format("<span class=\"{}\" style=\"bottom:{:.3f}%\">{}</span>\n", css_class,
                         100 * position, escape_xml(text));
}

void PageChart::title_below(std::string_view title) {
  labels_ += fmt::format("<span class=\"title-below\">{}</span>\n", escape_xml(title));
}

void PageChart::title_beside(std::string_view title) {
  labels_ += fmt::format("<span class=\"title-beside\">{}</span>\n", escape_xml(title));
}

std::string PageChart::html() const {
  return fmt::format(
      "<div class=\"chart{}{}\" style=\"height:{:.0f}px\">\n"
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\">\n{}{}</svg>\n{}</div>\n",
      css_class_.empty() ? "" : " ", css_class_, pixels_, width, height, label_, grid_, body_,
      labels_);
}

}  // namespace ooc_run
