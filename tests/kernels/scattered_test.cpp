// The built-in operators over data in pieces, which are stored in any order and anywhere in files,
// as they are or encoded: they find what they find in the same numbers stored plainly, to the bit.

#include <ooc/convert.hpp>
#include <ooc/histogram.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "kernels/reduce/reduce_fixture.hpp"
#include "support/all_types.hpp"
#include "support/encoded.hpp"
#include "support/scattered.hpp"

namespace ooc::detail {
namespace {

class ScatteredKernelsTest : public test::ReduceTest {
 protected:
  static constexpr std::size_t count_ = 20 * tile_elements + 77;

  /// Calls `check` with the same values, stored plainly and in pieces, for each type and both byte
  /// orders.
  template <class Check>
  void with_each_type(const Check& check) {
    for (const ElementType type : test::all_types) {
      for (const bool swapped : {false, true}) {
        if (swapped && size_of(type) == 1) continue;
        SCOPED_TRACE(std::string(name_of(type)) + (swapped ? " swapped" : ""));
        visit(type, [&]<class T>(std::type_identity<T>) {
          auto values = test::varied_values<T>(count_);
          std::fill_n(values.begin() + count_ / 2, count_ / 3, T{});  // pieces that are not stored
          const Source plain = source_of(values, swapped);
          check(plain, test::scattered(dir_.path(), values, {type, swapped}));
          if (!swapped) check(plain, test::encoded(dir_.path(), values, {type, swapped}));
        });
      }
    }
  }

  static Coordinator coordinator() {
    return Coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB, .streams = 3});
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Devices, ScatteredKernelsTest, test::all_devices, test::device_name);

TEST_P(ScatteredKernelsTest, StatisticsAreTheSame) {
  with_each_type([&](const Source& plain, const Source& pieces) {
    EXPECT_EQ(test::bits_of(reduce_it(pieces)), test::bits_of(reduce_it(plain)));
    const ReduceOptions exact{NanPolicy::omit, true};
    EXPECT_EQ(test::bits_of(reduce_it(pieces, exact)), test::bits_of(reduce_it(plain, exact)));
  });
}

TEST_P(ScatteredKernelsTest, HistogramsAreTheSame) {
  with_each_type([&](const Source& plain, const Source& pieces) {
    Coordinator machine = coordinator();
    for (const HistogramOptions& options :
         {HistogramOptions{.bins = 33}, {.bins = 7, .range = HistogramOptions::Range{-5, 500}}}) {
      // Values of all sizes are in no range of doubles.
      if (!options.range && plain.element() == ElementType::f8) continue;
      const auto [found, stats] = histogram(machine, pieces, options);
      const Histogram expected = histogram(machine, plain, options).value;
      EXPECT_EQ(found.counts, expected.counts);
      EXPECT_EQ(found.edges, expected.edges);
      EXPECT_EQ(stats.outcome.records, count_);
    }
  });
}

TEST_P(ScatteredKernelsTest, FilesAreConvertedToTheSame) {
  with_each_type([&](const Source& plain, const Source& pieces) {
    Coordinator machine = coordinator();
    const auto converted = [&](const Source& source) {
      const auto path = dir_.path() / "converted.npy";
      convert(machine, source, {.path = path, .type = {ElementType::f8}, .replace = true});
      return test::read_whole(path);
    };
    EXPECT_TRUE(converted(pieces) == converted(plain));
  });
}

}  // namespace
}  // namespace ooc::detail
