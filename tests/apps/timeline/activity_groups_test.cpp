#include "timeline/activity_groups.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "timeline/activity_track.hpp"

namespace ooc_run {
namespace {

using namespace std::chrono_literals;
using ooc::Activity;

DrawnActivity drawn(std::size_t chunk, int begin, int end,
                    Activity::Kind kind = Activity::Kind::read) {
  const Activity::Clock::time_point start{};
  return {{.kind = kind,
           .chunk = chunk,
           .bytes = 1'000'000,
           .begin = start + begin * 1ms,
           .end = start + end * 1ms},
          begin,
          end};
}

std::vector<std::string> descriptions(const std::vector<ActivityGroup>& groups) {
  std::vector<std::string> texts;
  for (const ActivityGroup& group : groups) texts.push_back(group.description(name_of(group.kind)));
  return texts;
}

std::vector<std::pair<int, int>> strokes_of(const ActivityGroup& group) {
  std::vector<std::pair<int, int>> strokes;
  for (const auto& [begin, end] : group.strokes) strokes.emplace_back(begin, end);
  return strokes;
}

using Strings = std::vector<std::string>;
using Pairs = std::vector<std::pair<int, int>>;

TEST(ActivityGroups, EachByItselfWhereTheyAreFew) {
  const auto groups = group_activities({drawn(7, 10, 20), drawn(8, 20, 25)}, 0);
  EXPECT_EQ(descriptions(groups),
            (Strings{"read 7: 1.00 MB in 10.0 ms", "read 8: 1.00 MB in 5.00 ms"}));
  EXPECT_EQ(strokes_of(groups[0]), (Pairs{{10, 20}}));
  EXPECT_EQ(strokes_of(groups[1]), (Pairs{{20, 25}}));
}

TEST(ActivityGroups, NeighboursAreDrawnAsTheyAreAndDescribedTogether) {
  const auto groups =
      group_activities({drawn(9, 5, 6), drawn(8, 0, 2), drawn(3, 2, 4), drawn(12, 10, 11)}, 10);
  EXPECT_EQ(descriptions(groups),
            (Strings{"read 3 to 9, 3 times: 3.00 MB in 5.00 ms", "read 12: 1.00 MB in 1.00 ms"}));
  EXPECT_EQ(strokes_of(groups[0]), (Pairs{{0, 4}, {5, 6}}));
}

TEST(ActivityGroups, OneChunkInPieces) {
  EXPECT_EQ(descriptions(group_activities({drawn(7, 0, 2), drawn(7, 2, 3)}, 10)),
            (Strings{"read 7, 2 times: 2.00 MB in 3.00 ms"}));
}

TEST(ActivityGroups, OfNoChunk) {
  const auto kind = Activity::Kind::kernel;
  EXPECT_EQ(descriptions(group_activities({drawn(Activity::no_chunk, 0, 2, kind)}, 10)),
            (Strings{"kernel: 1.00 MB in 2.00 ms"}));
  EXPECT_TRUE(group_activities({}, 10).empty());
}

TEST(ActivityGroups, KindsHaveTheirOwn) {
  EXPECT_EQ(group_activities({drawn(0, 0, 1), drawn(0, 1, 2, Activity::Kind::kernel)}, 10).size(),
            2u);
}

}  // namespace
}  // namespace ooc_run
