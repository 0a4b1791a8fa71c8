// The built-in operators on sections: their parts give what the whole gives.

#include <ooc/histogram.hpp>

#include <cstdint>
#include <random>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "kernels/reduce/reduce_fixture.hpp"
#include "support/all_types.hpp"
#include "support/merge_parts.hpp"

namespace ooc::detail {
namespace {

using test::ReduceTest;

class PartOfReduceTest : public ReduceTest {
 protected:
  /// Shards of the data, some of them empty.
  static std::vector<Source> sections(const Source& whole, std::size_t count) {
    std::vector<Source> sections;
    for (std::size_t i = 0; i < count; ++i)
      sections.push_back(shard(whole, i, count, tile_elements));
    return sections;
  }

  /// Merges parts two at a time in random order, after they were saved and loaded.
  template <class Value, class Load>
  Value merged(std::vector<PartialResult<Value>> parts, const Load& load) {
    for (auto& part : parts) part = load(part.save());
    return test::merge_parts(std::move(parts), random_);
  }

  std::mt19937_64 random_{1};
};

TEST_P(PartOfReduceTest, EveryTypeHasTheBitsOfTheWhole) {
  for (const ElementType type : test::all_types) {
    visit(type, [&]<class T>(std::type_identity<T>) {
      const Source whole = source_of(test::varied_values<T>(9 * tile_elements + 77));
      Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB});
      const HistogramOptions bins{.bins = 33, .range = HistogramOptions::Range{-5, 500}};
      for (const ReduceOptions options :
           {ReduceOptions{NanPolicy::omit, true}, ReduceOptions{NanPolicy::propagate, false}}) {
        for (const std::size_t count : {1u, 7u}) {
          std::vector<PartialResult<Statistics>> statistics;
          std::vector<PartialResult<Histogram>> histograms;
          for (const Source& each : sections(whole, count)) {
            auto [parts, stats] = collect_summary(coordinator, each, {options, bins});
            statistics.push_back(std::move(std::get<0>(parts)));
            histograms.push_back(std::move(std::get<1>(parts)));
          }
          const Statistics found = merged(std::move(statistics), [&](const auto& saved) {
            return load_reduce(type, options, saved);
          });
          EXPECT_EQ(test::bits_of(found), test::bits_of(reduce(coordinator, whole, options).value))
              << name_of(type) << " in " << count;
          const Histogram counted = merged(std::move(histograms), [&](const auto& saved) {
            return load_histogram(type, bins, saved);
          });
          EXPECT_EQ(counted.counts, histogram(coordinator, whole, bins).value.counts);
          EXPECT_EQ(counted.count, found.count);
        }
      }
    });
  }
}

TEST_P(PartOfReduceTest, AThousandShardsAnswerAsOne) {
  std::vector<float> values(1003 * tile_elements / 64 * 64 + 5);
  std::mt19937 random(9);
  for (float& value : values) value = static_cast<float>(random() % 100'000) * 0.01f;
  const Source whole = source_of(values);
  Coordinator coordinator(make_device(GetParam()));
  const auto expected = test::bits_of(reduce(coordinator, whole).value);
  std::vector<PartialResult<Statistics>> parts;
  for (const Source& each : sections(whole, 1000)) {
    parts.push_back(collect_reduce(coordinator, each).value);
  }
  EXPECT_EQ(test::bits_of(
                merged(std::move(parts),
                       [](const auto& saved) { return load_reduce(ElementType::f4, {}, saved); })),
            expected);
}

TEST_P(PartOfReduceTest, ASectionHasIndicesOfTheWhole) {
  std::vector<float> values(3 * tile_elements, 1);
  values[5] = -9, values[tile_elements + 7] = -3, values[tile_elements + 9] = -3;
  const Source whole = source_of(values), middle = section(whole, tile_elements, tile_elements);
  Coordinator coordinator(make_device(GetParam()));
  const Statistics found = reduce(coordinator, middle).value;
  EXPECT_EQ(found.count, tile_elements);
  EXPECT_EQ(found.argmin, tile_elements + 7);
  EXPECT_EQ(found.argmax, tile_elements);
  verify_reduce(coordinator, middle, {}, found);
}

TEST_P(PartOfReduceTest, PartsOfOtherQuestionsDoNotMerge) {
  const Source whole = source_of(std::vector<float>(3 * tile_elements));
  Coordinator coordinator(make_device(GetParam()));
  const auto saved = collect_reduce(coordinator, whole).value.save();
  test::expect_error(ErrorKind::usage, "float32 without NaN, the other one of float32", [&] {
    load_reduce(ElementType::f4, {NanPolicy::omit, false}, saved);
  });
  test::expect_error(ErrorKind::usage, "of float64, the other one of float32",
                     [&] { load_reduce(ElementType::f8, {}, saved); });
  const HistogramOptions bins{.bins = 4, .range = HistogramOptions::Range{0, 1}};
  auto part = collect_histogram(coordinator, section(whole, 0, tile_elements), bins).value;
  test::expect_error(ErrorKind::usage, "edges of hash", [&] {
    part.merge(collect_histogram(coordinator, section(whole, tile_elements, 2 * tile_elements),
                                 {.bins = 4, .range = HistogramOptions::Range{0, 2}})
                   .value);
  });
  test::expect_error(ErrorKind::usage, "range",
                     [&] { collect_histogram(coordinator, whole, {.bins = 4}); });
}

INSTANTIATE_TEST_SUITE_P(Device, PartOfReduceTest, test::all_devices, test::device_name);

}  // namespace
}  // namespace ooc::detail
