#pragma once

#include <string>
#include <string_view>

namespace ooc_run {

/// Escapes text for an XML element or attribute. Invalid UTF-8, which paths may contain, becomes a
/// replacement character. Characters that XML does not allow become spaces.
std::string escape_xml(std::string_view text);

/// Escapes text of several lines and keeps the newlines.
std::string escape_lines(std::string_view text);

/// An SVG document with a light background, or a dark one if the viewer prefers it. Lengths are in
/// pixels, y grows downwards. Each picture has the CSS classes `axis`, `grid`, `title` and `note`.
class Svg {
 public:
  /// `style`: CSS for additional classes.
  Svg(double width, double height, std::string_view style);

  void line(double x1, double y1, double x2, double y2, std::string_view css_class);
  void circle(double x, double y, double radius, std::string_view css_class);

  /// `anchor`: the part of the text that is at x: start, middle or end.
  void text(double x, double y, std::string_view anchor, std::string_view text,
            std::string_view css_class = {});

  /// Adds SVG elements as they are.
  void add(std::string_view element) { body_ += element; }

  std::string document() const;

 private:
  double width_, height_;
  std::string style_;
  std::string body_;
};

/// The area between two axes, in which data are drawn. Positions are coordinates from 0 to 1.
struct Frame {
  double left, bottom;  // the corner where the axes meet
  double width, height;

  double x(double position) const { return left + position * width; }
  double y(double position) const { return bottom - position * height; }

  void draw_axes(Svg& svg) const;
  void draw_tick_below(Svg& svg, double position, std::string_view label) const;
  /// Also draws a grid line.
  void draw_tick_beside(Svg& svg, double position, std::string_view label) const;

  /// Draw the titles of the axes.
  void draw_title_below(Svg& svg, std::string_view title) const;
  void draw_title_beside(Svg& svg, std::string_view title) const;
};

}  // namespace ooc_run
