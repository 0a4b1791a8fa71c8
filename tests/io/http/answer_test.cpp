#include "http/answer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace ooc::detail {
namespace {

TEST(AnswerTest, TakesAHeader) {
  Answer answer;
  for (const std::string_view line :
       {"HTTP/1.1 206 Partial Content\r\n", "content-range: bytes 0-99/1000\r\n",
        "Content-Length: 100\r\n", "ETag: \"a b\"\r\n",
        "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n", "\r\n"}) {
    answer.add_line(line);
  }
  EXPECT_EQ(answer.status, 206);
  EXPECT_EQ(answer.status_text(), "206 Partial Content");
  ASSERT_TRUE(answer.range && answer.range->has_range);
  EXPECT_EQ(answer.range->first, 0);
  EXPECT_EQ(answer.range->last, 99);
  EXPECT_EQ(answer.range->size, 1000);
  EXPECT_EQ(answer.content_length, 100);
  EXPECT_EQ(answer.etag, "\"a b\"");
  EXPECT_EQ(answer.modified, "Mon, 01 Jan 2024 00:00:00 GMT");
}

TEST(AnswerTest, AStatusLineBeginsANewAnswer) {
  Answer answer;
  answer.add_line("HTTP/1.1 302 Found");
  answer.add_line("ETag: W/\"1\"");
  EXPECT_EQ(answer.etag, "W/\"1\"");
  answer.add_line("HTTP/2 200");
  EXPECT_EQ(answer.etag, "");
  EXPECT_EQ(answer.status_text(), "200");
}

TEST(AnswerTest, UnknownSizesAndPlaces) {
  Answer answer;
  answer.add_line("Content-Range: bytes */1000");
  ASSERT_TRUE(answer.range);
  EXPECT_FALSE(answer.range->has_range);
  EXPECT_EQ(answer.range->size, 1000);
  answer.add_line("Content-Range: bytes 5-6/*");
  ASSERT_TRUE(answer.range && answer.range->has_range);
  EXPECT_FALSE(answer.range->size);
}

TEST(AnswerTest, TakesAnotherSpelling) {
  Answer answer;
  answer.add_line("CONTENT-RANGE: Bytes 5-6/7");
  ASSERT_TRUE(answer.range && answer.range->has_range);
  EXPECT_EQ(answer.range->last, 6);
}

TEST(AnswerTest, IgnoresTheRestOfAFoldedLine) {
  Answer answer;
  answer.add_line("X-Note: an\r\n");
  answer.add_line(" ETag: \"1\"\r\n");
  answer.add_line("\tContent-Range: bytes 5-6/7\r\n");
  EXPECT_EQ(answer.etag, "");
  EXPECT_FALSE(answer.range);
}

TEST(AnswerTest, RejectsWhatIsNoRange) {
  for (const std::string_view text :
       {"", "bytes", "bytes 0-99", "bytes 9-0/10", "bytes 0-/10", "bytes -5/10", "bytes 0-1/x",
        "items 0-1/10", "bytes 0-1/99999999999999999999999", "bytes 0 1/10"}) {
    Answer answer;
    answer.add_line("Content-Range: " + std::string(text));
    EXPECT_FALSE(answer.range) << text;
  }
}

}  // namespace
}  // namespace ooc::detail
