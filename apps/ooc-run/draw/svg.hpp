#pragma once

#include <string>
#include <string_view>

namespace ooc_run {

/// Text as it may stand in XML, in an element or an attribute: valid UTF-8, with a replacement
/// character for what is none (paths need not be), blanks for what XML does not know.
std::string escape_xml(std::string_view text);

/// The same for text of several lines, which stay.
std::string escape_lines(std::string_view text);

/// A picture as an SVG document, on white, or dark where the reader prefers that. Lengths are
/// pixels, y grows downwards. Classes are those of its style sheet; `axis`, `grid`, `title` and
/// `note` are known to all pictures.
class Svg {
 public:
  /// `style`: CSS for further classes.
  Svg(double width, double height, std::string_view style);

  void line(double x1, double y1, double x2, double y2, std::string_view css_class);
  void circle(double x, double y, double radius, std::string_view css_class);

  /// `anchor`: what of the text lies at x: start, middle or end.
  void text(double x, double y, std::string_view anchor, std::string_view text,
            std::string_view css_class = {});

  /// A piece of SVG as it is.
  void add(std::string_view element) { body_ += element; }

  std::string document() const;

 private:
  double width_, height_;
  std::string style_;
  std::string body_;
};

/// Where data are drawn: the area between two axes, whose places go from 0 to 1.
struct Frame {
  double left, bottom;  // the corner where the axes meet
  double width, height;

  double x(double place) const { return left + place * width; }
  double y(double place) const { return bottom - place * height; }

  void draw_axes(Svg& svg) const;
  void draw_tick_below(Svg& svg, double place, std::string_view label) const;
  /// With a line across.
  void draw_tick_beside(Svg& svg, double place, std::string_view label) const;

  /// What the axes show.
  void draw_title_below(Svg& svg, std::string_view title) const;
  void draw_title_beside(Svg& svg, std::string_view title) const;
};

}  // namespace ooc_run
