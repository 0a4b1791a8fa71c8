#include "timeline/trace.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/temp_dir.hpp"

namespace ooc_run {
namespace {

using ooc::TraceEvent;

class TraceTest : public testing::Test {
 protected:
  /// Writes a trace of one read per chunk, with room for `most` events. Returns the contents of the
  /// file; the message is in `note_`.
  std::string commit(std::size_t chunks, std::size_t most) {
    Trace trace({.path = dir_.path() / "t.pf", .command = "reduce", .replace = true}, most);
    EXPECT_TRUE(trace.empty());
    const auto start = TraceEvent::Clock::now();
    for (std::size_t k = 0; k < chunks; ++k) {
      const auto begin = start + std::chrono::milliseconds(k);
      trace.record({.kind = TraceEvent::Kind::read,
                    .worker = k % 3,
                    .chunk = k,
                    .bytes = 100,
                    .begin = begin,
                    .end = begin + std::chrono::milliseconds(1)});
    }
    EXPECT_EQ(trace.empty(), chunks == 0);
    note_ = trace.commit();
    EXPECT_TRUE(trace.empty());
    return ooc::detail::test::read_whole(dir_.path() / "t.pf");
  }

  /// Returns the number of each chunk that the trace has, and "-" for each that it lacks.
  static std::string digits_of(const std::string& file, std::size_t chunks) {
    std::string found;
    for (std::size_t k = 0; k < chunks; ++k) {
      const bool there = file.find("read " + std::to_string(k)) != std::string::npos;
      found += there ? std::to_string(k) : "-";
    }
    return found;
  }

  ooc::detail::test::TempDir dir_;
  std::string note_;
};

TEST_F(TraceTest, HasEverythingIfItFits) {
  EXPECT_EQ(digits_of(commit(8, 8), 8), "01234567");
  EXPECT_EQ(note_,
            "wrote " + (dir_.path() / "t.pf").string() + ", a timeline that ui.perfetto.dev shows");
}

TEST_F(TraceTest, LeavesOutTheMiddleOfALongRun) {
  EXPECT_EQ(digits_of(commit(10, 4), 10), "01------89");
  EXPECT_TRUE(note_.ends_with("; of 10 events, the 6 in the middle are left out")) << note_;
}

TEST_F(TraceTest, IsWrittenOfNothingToo) {
  EXPECT_NE(commit(0, 4).find("ooc-run reduce"), std::string::npos);
}

TEST_F(TraceTest, LeavesNothingBehindUnlessItIsPublished) {
  { const Trace trace({.path = dir_.path() / "t.pf", .command = "reduce", .replace = false}); }
  EXPECT_TRUE(dir_.names().empty());
}

}  // namespace
}  // namespace ooc_run
