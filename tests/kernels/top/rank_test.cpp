#include "top/rank.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "support/all_types.hpp"
#include "support/bits.hpp"
#include "support/values_file.hpp"

namespace ooc::detail::tops {
namespace {

TEST(TopRanks, OrderValuesAndNaNIsBehindAll) {
  for (const ElementType type : test::all_types) {
    SCOPED_TRACE(std::string(name_of(type)));
    visit(type, [&]<class T>(std::type_identity<T>) {
      std::vector<T> values = test::random_bits<T>(3000);
      for (const Ranking<T> ranking : {Ranking<T>(false), Ranking<T>(true)}) {
        for (std::size_t i = 1; i < values.size(); ++i) {
          const double one = to_double(values[i - 1]), other = to_double(values[i]);
          const Rank<T> rank = ranking.of(values[i]);
          EXPECT_EQ(test::bits_of(ranking.element(rank)), test::bits_of(values[i]));
          EXPECT_EQ(rank <= ranking.last, other == other);
          if (!(one < other) && !(other < one)) continue;  // equal as doubles, or NaN
          EXPECT_EQ(ranking.of(values[i - 1]) < rank, (one < other) == (ranking.flip == 0));
        }
      }
    });
  }
}

TEST(TopRanks, TheBestOfAllIsTheFirst) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Ranking<double> largest(false), smallest(true);
  EXPECT_EQ(largest.of(infinity), 0u);
  EXPECT_EQ(largest.of(-infinity), largest.last);
  EXPECT_EQ(smallest.of(-infinity), 0u);
  EXPECT_EQ(smallest.of(infinity), smallest.last);
  EXPECT_EQ(largest.of(-0.0), largest.of(0.0) + 1);
  EXPECT_EQ(Ranking<std::int8_t>(false).of(127), 0u);
  EXPECT_EQ(Ranking<std::int8_t>(true).of(-128), 0u);
  EXPECT_EQ(Ranking<std::uint64_t>(false).of(~std::uint64_t{0}), 0u);
}

TEST(TopRanks, KeepsTheBest) {
  std::vector<Candidate> all{{3, 0}, {1, 9}, {2, 5}, {1, 2}, {2, 4}};
  keep_best(all, 9);
  EXPECT_EQ(all.size(), 5u);
  keep_best(all, 3);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all.back().rank, 2u);
  EXPECT_EQ(all.back().place, 4u);
}

}  // namespace
}  // namespace ooc::detail::tops
