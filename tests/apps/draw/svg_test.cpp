#include "draw/svg.hpp"

#include <gtest/gtest.h>

namespace ooc_run {
namespace {

TEST(Svg, TextIsText) {
  EXPECT_EQ(escape_xml("<b> & \"x\" \x01\n"), "&lt;b&gt; &amp; &quot;x&quot;   ");
  EXPECT_EQ(escape_xml("größer"), "größer");
  EXPECT_EQ(escape_xml("a\xff"
                       "b\xed\xa0\x80"),
            "a\ufffdb\ufffd\ufffd\ufffd");
  EXPECT_EQ(escape_xml("\xef\xbf\xbe|\xef\xbf\xbf"), " | ");  // valid in UTF-8, but not in XML
}

TEST(Svg, IsADocument) {
  Svg svg(300, 200, ".mine { fill: red }\n");
  svg.line(1, 2, 3, 4, "axis");
  svg.circle(5, 6, 7, "mine");
  svg.text(8, 9, "end", "1 < 2", "note");
  const std::string text = svg.document();
  EXPECT_TRUE(
      text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"300\" "
                       "height=\"200\" viewBox=\"0 0 300 200\">\n"));
  EXPECT_TRUE(text.ends_with("</svg>\n"));
  for (const char* part :
       {".axis { stroke: #222", ".mine { fill: red }\n</style>",
        "<line x1=\"1.0\" y1=\"2.0\" x2=\"3.0\" y2=\"4.0\" class=\"axis\"/>",
        "<circle cx=\"5.0\" cy=\"6.0\" r=\"7\" class=\"mine\"/>",
        "<text x=\"8.0\" y=\"9.0\" text-anchor=\"end\" class=\"note\">1 &lt; 2</text>"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST(Svg, IsWhiteOrAsDarkAsTheReaderPrefers) {
  const std::string text = Svg(300, 200, {}).document();
  const std::size_t paper = text.find("height=\"100%\" fill=\"white\" class=\"paper\"/>");
  const std::size_t dark = text.find("@media (prefers-color-scheme: dark) {\n  .paper { fill: #1");
  EXPECT_NE(paper, std::string::npos);
  EXPECT_NE(dark, std::string::npos);
  EXPECT_LT(dark, paper);
}

TEST(Svg, AFrameHasItsOriginAtTheLowerLeft) {
  const Frame frame{.left = 10, .bottom = 110, .width = 200, .height = 100};
  EXPECT_EQ(frame.x(0), 10);
  EXPECT_EQ(frame.x(1), 210);
  EXPECT_EQ(frame.y(0), 110);
  EXPECT_EQ(frame.y(1), 10);
}

}  // namespace
}  // namespace ooc_run
