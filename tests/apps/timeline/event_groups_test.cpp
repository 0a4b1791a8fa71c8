#include "timeline/event_groups.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "timeline/event_track.hpp"

namespace ooc_run {
namespace {

using namespace std::chrono_literals;
using ooc::TraceEvent;

DrawnEvent drawn(std::size_t chunk, int begin, int end,
                 TraceEvent::Kind kind = TraceEvent::Kind::read) {
  const TraceEvent::Clock::time_point start{};
  return {{.kind = kind,
           .chunk = chunk,
           .bytes = 1'000'000,
           .begin = start + begin * 1ms,
           .end = start + end * 1ms},
          begin,
          end};
}

std::vector<std::string> descriptions(const std::vector<EventGroup>& groups) {
  std::vector<std::string> texts;
  for (const EventGroup& group : groups) texts.push_back(group.description(name_of(group.kind)));
  return texts;
}

std::vector<std::pair<int, int>> strokes_of(const EventGroup& group) {
  std::vector<std::pair<int, int>> strokes;
  for (const auto& [begin, end] : group.strokes) strokes.emplace_back(begin, end);
  return strokes;
}

using Strings = std::vector<std::string>;
using Pairs = std::vector<std::pair<int, int>>;

TEST(EventGroups, EachByItselfWhereTheyAreFew) {
  const auto groups = group_events({drawn(7, 10, 20), drawn(8, 20, 25)}, 0);
  EXPECT_EQ(descriptions(groups),
            (Strings{"read 7: 1.00 MB in 10.0 ms", "read 8: 1.00 MB in 5.00 ms"}));
  EXPECT_EQ(strokes_of(groups[0]), (Pairs{{10, 20}}));
  EXPECT_EQ(strokes_of(groups[1]), (Pairs{{20, 25}}));
}

TEST(EventGroups, NeighboursAreDrawnAsTheyAreAndDescribedTogether) {
  const auto groups =
      group_events({drawn(9, 5, 6), drawn(8, 0, 2), drawn(3, 2, 4), drawn(12, 10, 11)}, 10);
  EXPECT_EQ(descriptions(groups),
            (Strings{"read 3 to 9, 3 times: 3.00 MB in 5.00 ms", "read 12: 1.00 MB in 1.00 ms"}));
  EXPECT_EQ(strokes_of(groups[0]), (Pairs{{0, 4}, {5, 6}}));
}

TEST(EventGroups, OneChunkInPieces) {
  EXPECT_EQ(descriptions(group_events({drawn(7, 0, 2), drawn(7, 2, 3)}, 10)),
            (Strings{"read 7, 2 times: 2.00 MB in 3.00 ms"}));
}

TEST(EventGroups, OfNoChunk) {
  const auto kind = TraceEvent::Kind::kernel;
  EXPECT_EQ(descriptions(group_events({drawn(TraceEvent::no_chunk, 0, 2, kind)}, 10)),
            (Strings{"kernel: 1.00 MB in 2.00 ms"}));
  EXPECT_TRUE(group_events({}, 10).empty());
}

TEST(EventGroups, KindsHaveTheirOwn) {
  EXPECT_EQ(group_events({drawn(0, 0, 1), drawn(0, 1, 2, TraceEvent::Kind::kernel)}, 10).size(),
            2u);
}

}  // namespace
}  // namespace ooc_run
