#include "draw/svg.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace ooc_run {
namespace {

constexpr std::string_view common_style =
    "text { font: 12px sans-serif; fill: #222 } .title { font-size: 15px } .note { fill: #555 }\n"
    "line, polyline { fill: none; stroke-width: 1.5 }\n"
    ".axis { stroke: #222; stroke-width: 1 } .grid { stroke: #ddd; stroke-width: 1 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  .paper { fill: #14181d } text { fill: #e4e8ec } .note { fill: #9aa5b1 }\n"
    "  .axis { stroke: #9aa5b1 } .grid { stroke: #333b44 }\n"
    "}\n";

/// Replaces invalid UTF-8, as nlohmann-json does when it writes a string.
std::string valid_utf8(std::string_view text) {
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string safe;
  for (const char letter : valid_utf8(text)) {
    switch (letter) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
    }
  }
  // U+FFFE and U+FFFF are valid in UTF-8, but not in XML.
  for (const std::string_view none : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (std::size_t at = 0; (at = safe.find(none, at)) != std::string::npos;) {
      safe.replace(at, none.size(), " ");
    }
  }
  return safe;
}

std::string escape_lines(std::string_view text) {
  std::string safe;
  for (;;) {
    const std::size_t end = text.find('\n');
    safe += escape_xml(text.substr(0, end));
    if (end == std::string_view::npos) return safe;
    safe += '\n';
    text.remove_prefix(end + 1);
  }
}

Svg::Svg(double width, double height, std::string_view style)
    : width_(width), height_(height), style_(style) {}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  body_ +=
      fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n",
                  x1, y1, x2, y2, css_class);
}

void Svg::circle(double x, double y, double radius, std::string_view css_class) {
  body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" class=\"{}\"/>\n", x, y,
                       radius, css_class);
}

void Svg::text(double x, double y, std::string_view anchor, std::string_view text,
               std::string_view css_class) {
  const std::string of_class = css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class);
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                       anchor, of_class, escape_xml(text));
}

std::string Svg::document() const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n"
      "<style>\n{2}{3}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\" class=\"paper\"/>\n"
      "{4}</svg>\n",
      width_, height_, common_style, style_, body_);
}

void Frame::draw_axes(Svg& svg) const {
  svg.line(x(0), y(0), x(1), y(0), "axis");
  svg.line(x(0), y(0), x(0), y(1), "axis");
}

void Frame::draw_tick_below(Svg& svg, double position, std::string_view label) const {
  svg.line(x(position), bottom, x(position), bottom + 4, "axis");
  if (!label.empty()) svg.text(x(position), bottom + 17, "middle", label);
}

void Frame::draw_tick_beside(Svg& svg, double position, std::string_view label) const {
  svg.line(x(0), y(position), x(1), y(position), "grid");
  svg.text(left - 6, y(position) + 4, "end", label);
}

void Frame::draw_title_below(Svg& svg, std::string_view title) const {
  svg.text(x(0.5), bottom + 34, "middle", title);
}

void Frame::draw_title_beside(Svg& svg, std::string_view title) const {
  svg.text(left - 6, y(1) - 12, "end", title);
}

}  // namespace ooc_run
