// Tests parts of histograms of pairs: merged in any order, they give the histogram of the whole.

#include <ooc/error.hpp>
#include <ooc/histogram_2d.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "kernels/histogram_2d/one_by_one.hpp"
#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/saved_parts.hpp"
#include "support/special_values.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::Bytes;
using test::expect_equal;
using test::expect_refused;
using test::numbers;

/// Divides a source in sections that are whole tiles.
using Divide = std::function<Source(const Source&, std::uint64_t index, std::uint64_t count)>;

Source divide_elements(const Source& source, std::uint64_t index, std::uint64_t count) {
  return shard(source, index, count, tile_elements);
}

/// Divides rows of so many bytes.
Divide divide_rows(std::size_t row_bytes) {
  return [row_bytes](const Source& source, std::uint64_t index, std::uint64_t count) {
    return shard_rows(source, index, count, pair_tile_rows(row_bytes));
  };
}

class PairPartsTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    OOC_SKIP_WITHOUT(GetParam());
    own_.emplace(make_device(GetParam()), Options{.chunk_bytes = 131072, .streams = 2});
  }

  Coordinator& machine() { return *own_; }

  template <class T>
  Source source_of(const std::string& name, const std::vector<T>& values) {
    test::write_file(dir_.path() / name, values);
    return open(dir_.path() / name, {.type = DType{element_type_of<T>()}});
  }

  /// Calls collect(x, y) with both axes in a section, and returns the part that it finds.
  template <class Collect>
  auto collect_in(const PairAxis& x, const PairAxis& y, const Divide& divide, std::uint64_t index,
                  std::uint64_t count, const Collect& collect) {
    const Source x_section = divide(x.source, index, count);
    std::optional<Source> y_section;
    if (&x.source != &y.source) y_section = divide(y.source, index, count);
    return collect(PairAxis{x_section, x.column, x.bins},
                   PairAxis{y_section ? *y_section : x_section, y.column, y.bins})
        .value;
  }

  /// Expects that parts give the histogram of the whole, for any number of them.
  void expect_whole(const PairAxis& x, const PairAxis& y, ElementType x_type, ElementType y_type,
                    const Divide& divide) {
    const Histogram2d expected = histogram_2d(machine(), x, y).value;
    const auto load = [&](const Bytes& saved) {
      return load_histogram_2d({x_type, x.bins}, {y_type, y.bins}, saved);
    };
    const auto collect = [&](const PairAxis& x_part, const PairAxis& y_part) {
      return collect_histogram_2d(machine(), x_part, y_part);
    };
    for (const std::uint64_t count : {1, 2, 3, 7, 20}) {  // of 20, some are empty
      SCOPED_TRACE(count);
      std::vector<Bytes> saved;
      std::vector<PartialResult<Histogram2d>> parts;
      for (std::uint64_t i = 0; i < count; ++i) {
        auto part = collect_in(x, y, divide, i, count, collect);
        saved.push_back(part.save());
        // Parts that were not saved merge with those that were.
        parts.push_back(i % 2 == 0 ? std::move(part) : load(saved.back()));
      }
      expect_equal(test::merge_parts(std::move(parts), random_), expected);
      for (int order = 0; order < 3; ++order) {
        expect_equal(test::merge_saved(saved, load, random_), expected);
      }
    }
  }

  /// Writes structs of an i2 `size`, whose byte order is swapped, and an f4 `price`, in 7 bytes.
  Source structs_of(std::size_t count) {
    std::mt19937_64 random(count);
    std::vector<std::byte> bytes;
    for (const float price : numbers<float>(count, 5)) {
      bytes.insert(bytes.end(), {std::byte{0}, std::byte(random() % 100), std::byte{0xff}});
      const auto in_bytes = std::as_bytes(std::span(&price, 1));
      bytes.insert(bytes.end(), in_bytes.begin(), in_bytes.end());
    }
    test::write_file(dir_.path() / "structs", bytes);
    DType type;
    type.fields = {{.name = "size", .element = ElementType::i2, .swapped = true, .offset = 0},
                   {.name = "price", .element = ElementType::f4, .offset = 3}};
    type.struct_bytes = 7;
    return open(dir_.path() / "structs", {.type = type});
  }

  inline static const HistogramOptions even{.bins = 37, .range = {{0, 90}}};
  inline static const HistogramOptions listed{.edges = {-5, 0, 0, 3, 50, 1e9}};

  test::TempDir dir_;
  std::optional<Coordinator> own_;
  std::mt19937_64 random_{3};
};

INSTANTIATE_TEST_SUITE_P(Devices, PairPartsTest, test::all_devices, test::device_name);

TEST_P(PairPartsTest, OfTwoFilesGiveTheWhole) {
  const std::size_t count = 5 * tile_elements + 77;
  const auto expect_types = [&]<class X, class Y>(std::type_identity<X>, std::type_identity<Y>) {
    const Source x = source_of("x", numbers<X>(count, 1)), y = source_of("y", numbers<Y>(count, 2));
    expect_whole({.source = x, .bins = even}, {.source = y, .bins = listed}, element_type_of<X>(),
                 element_type_of<Y>(), divide_elements);
  };
  expect_types(std::type_identity<float>{}, std::type_identity<double>{});
  expect_types(std::type_identity<std::uint8_t>{}, std::type_identity<Float16>{});
  expect_types(std::type_identity<BFloat16>{}, std::type_identity<std::int64_t>{});
}

TEST_P(PairPartsTest, OfColumnsGiveTheWhole) {
  const std::size_t columns = 5;
  Source table = source_of("table", numbers<float>((3 * tile_elements + 21) * columns, 11));
  table.set_columns(columns);
  expect_whole({.source = table, .column = "4", .bins = even},
               {.source = table, .column = "1", .bins = even}, ElementType::f4, ElementType::f4,
               divide_rows(columns * sizeof(float)));
}

TEST_P(PairPartsTest, OfFieldsGiveTheWhole) {
  const Source structs = structs_of(4 * tile_elements + 5);
  expect_whole({.source = structs, .column = "price", .bins = even},
               {.source = structs, .column = "size", .bins = listed}, ElementType::f4,
               ElementType::i2, divide_elements);
}

TEST_P(PairPartsTest, OfTheSameSourceGiveTheWhole) {
  const Source x = source_of("x", numbers<std::int16_t>(2 * tile_elements + 1, 8));
  expect_whole({.source = x, .bins = even}, {.source = x, .bins = listed}, ElementType::i2,
               ElementType::i2, divide_elements);
}

TEST_P(PairPartsTest, OfNoPairsGiveTheWhole) {
  const Source none = source_of("none", std::vector<float>{});
  expect_whole({.source = none, .bins = even}, {.source = none, .bins = listed}, ElementType::f4,
               ElementType::f4, divide_elements);
}

TEST_P(PairPartsTest, WideRowsHaveSmallTiles) {
  static_assert(pair_tile_rows(1) == tile_elements && pair_tile_rows(16) == tile_elements);
  static_assert(pair_tile_rows(17) == tile_elements / 2 && pair_tile_rows(1 << 20) == 1);
  static_assert(pair_tile_rows(std::numeric_limits<std::size_t>::max()) == 1);
  const std::size_t columns = 60'000;  // in rows of 240,000 bytes
  static_assert(pair_tile_rows(columns * sizeof(float)) == 4);
  Source table = source_of("table", numbers<float>(13 * columns, 11));
  table.set_columns(columns);
  const PairAxis x{.source = table, .column = "4", .bins = even};
  const PairAxis y{.source = table, .column = "59999", .bins = even};
  expect_whole(x, y, ElementType::f4, ElementType::f4, divide_rows(columns * sizeof(float)));
  const Source half = section_rows(table, 0, 6);
  test::expect_error(ErrorKind::usage, "whole partitions", [&] {
    (void)collect_histogram_2d(machine(), {half, x.column, even}, {half, y.column, even});
  });
}

/// Expects that the bins that parts of a first pass choose give the histogram of the whole.
TEST_P(PairPartsTest, ChooseTheBinsOfTheWhole) {
  const std::size_t count = 4 * tile_elements + 9;
  const Source x = source_of("x", numbers<float>(count, 1));
  const Source y = source_of("y", numbers<std::uint8_t>(count, 2));
  const auto collect = [&](const PairAxis& x_part, const PairAxis& y_part) {
    return collect_pair_bins(machine(), x_part, y_part);
  };
  const HistogramOptions ten{.bins = 10}, few{.bins = 3};
  for (const auto& [x_bins, y_bins] :
       {std::pair{ten, few}, std::pair{ten, listed}, std::pair{even, few}}) {
    const PairAxis x_axis{x, "", x_bins}, y_axis{y, "", y_bins};
    const Histogram2d expected = histogram_2d(machine(), x_axis, y_axis).value;
    const auto load = [&](const Bytes& saved) {
      return load_pair_bins({ElementType::f4, x_axis.bins}, {ElementType::u1, y_axis.bins}, saved);
    };
    for (const std::uint64_t parts : {1, 3, 20}) {
      std::vector<Bytes> saved;
      for (std::uint64_t i = 0; i < parts; ++i) {
        saved.push_back(collect_in(x_axis, y_axis, divide_elements, i, parts, collect).save());
      }
      const ChosenPairBins chosen = test::merge_saved(saved, load, random_);
      const PairAxis x_known{x, "", chosen.x}, y_known{y, "", chosen.y};
      EXPECT_EQ(histogram_2d_passes(x_known, y_known), 1u);
      const Histogram2d found = histogram_2d(machine(), x_known, y_known).value;
      expect_equal(found, expected);
      require_unchanged(chosen, found);
    }
  }
}

TEST_P(PairPartsTest, ShowThatTheDataHaveChanged) {
  // Five pairs: an infinity and a NaN of x, two NaN of y, of which one is in the same pair.
  const float nan = test::float_nan;
  const Source x = source_of("x", std::vector<float>{1, 2, test::float_infinity, nan, 3});
  const Source y = source_of("y", std::vector<float>{1, nan, 4, nan, 3});
  const PairAxis x_axis{.source = x}, y_axis{.source = y};
  const ChosenPairBins chosen = collect_pair_bins(machine(), x_axis, y_axis).value.result();
  EXPECT_EQ(chosen.least_nan, 2u);
  EXPECT_EQ(chosen.most_nan, 3u);
  EXPECT_EQ(chosen.most_outside, 1u);
  const Histogram2d found = histogram_2d(machine(), x_axis, y_axis).value;
  require_unchanged(chosen, found);
  const auto refuses = [&](std::uint64_t nan_pairs, std::uint64_t outside) {
    Histogram2d other = found;
    other.nan = nan_pairs;
    other.outside = outside;
    test::expect_error(ErrorKind::input_changed, "changed",
                       [&] { require_unchanged(chosen, other); });
  };
  refuses(1, 1);
  refuses(4, 1);
  refuses(2, 2);
  const PairAxis known{y, "", even};
  EXPECT_EQ(collect_pair_bins(machine(), x_axis, known).value.result().most_outside, 5u);
}

TEST_P(PairPartsTest, NeedBinsThatAreKnown) {
  const Source x = source_of("x", std::vector<std::uint8_t>{1, 2, 3});
  const SavedAxis known{ElementType::u1, even}, unknown{ElementType::u1, {.bins = 4}};
  const auto refuses = [&](const std::string& what, const SavedAxis& one, const SavedAxis& other) {
    const PairAxis x_axis{x, "", one.bins}, y_axis{x, "", other.bins};
    test::expect_error(ErrorKind::usage, what,
                       [&] { (void)collect_histogram_2d(machine(), x_axis, y_axis); });
    test::expect_error(ErrorKind::usage, what, [&] { (void)load_histogram_2d(one, other, {}); });
  };
  refuses("takes the ranges", known, unknown);
  refuses("takes the ranges", unknown, known);
  const SavedAxis by_rule{ElementType::u1, {.bins = BinRule::sqrt}};
  refuses("is for one axis", known, by_rule);
  refuses("cells", known, {ElementType::u1, {.bins = max_bins, .range = {{0, 1}}}});
  test::expect_error(ErrorKind::usage, "do not depend on the data", [&] {
    (void)collect_pair_bins(machine(), {x, "", even}, {x, "", listed});
  });
  test::expect_error(ErrorKind::usage, "do not depend on the data",
                     [&] { (void)load_pair_bins(known, known, {}); });
  EXPECT_EQ(histogram_2d_passes(known, known), 1u);
  EXPECT_EQ(histogram_2d_passes(known, unknown), 2u);
  test::expect_error(ErrorKind::usage, "is for one axis",
                     [&] { (void)histogram_2d_passes(known, by_rule); });
}

TEST_P(PairPartsTest, OfOtherSectionsOrBinsAreRefused) {
  const Source x = source_of("x", numbers<float>(4 * tile_elements, 1));
  const Source y = source_of("y", numbers<float>(4 * tile_elements, 2));
  const Source first = shard(x, 0, 2), second = shard(y, 1, 2), same = shard(y, 0, 2);
  EXPECT_THROW((void)collect_histogram_2d(machine(), {first, "", even}, {second, "", even}), Error);
  const Source odd = section(x, 0, 100), odd_y = section(y, 0, 100);
  test::expect_error(ErrorKind::usage, "whole partitions", [&] {
    (void)collect_histogram_2d(machine(), {odd, "", even}, {odd_y, "", even});
  });
  auto part = collect_histogram_2d(machine(), {first, "", even}, {same, "", listed}).value;
  const Bytes saved = part.save();
  const SavedAxis of_x{ElementType::f4, even}, of_y{ElementType::f4, listed};
  const auto refuses = [&](const SavedAxis& one, const SavedAxis& other) {
    expect_refused(ErrorKind::usage, saved,
                   [&](const Bytes& bytes) { return load_histogram_2d(one, other, bytes); });
  };
  refuses(of_y, of_x);
  refuses({ElementType::f8, even}, of_y);
  refuses(of_x, {ElementType::i4, listed});
  refuses({ElementType::f4, {.bins = 37, .range = {{0, 91}}}}, of_y);
  EXPECT_THROW(part.merge(load_histogram_2d(of_x, of_y, saved)), Error);  // the same records
  EXPECT_THROW((void)std::move(part).result(), Error);                    // some are missing
}

TEST_P(PairPartsTest, ThatAreDamagedOrForgedAreRefused) {
  const Source x = source_of("x", numbers<float>(1000, 1));
  const HistogramOptions few{.bins = 3, .range = {{0, 90}}};
  const Bytes saved = collect_histogram_2d(machine(), {x, "", few}, {x, "", few}).value.save();
  const SavedAxis axis{ElementType::f4, few};
  const auto load = [&](const Bytes& bytes) { return load_histogram_2d(axis, axis, bytes); };
  (void)load(saved);
  test::expect_whole_only(saved, load);
  const std::size_t counters = 3 * 3 + 2, bytes_of_counts = (counters + 1) * sizeof(std::uint64_t);
  test::expect_all_bits_count(saved, 0, bytes_of_counts, load);
  // As many records and counts, but more than the part covers.
  const std::size_t findings = test::place_of_findings(saved);
  std::uint64_t first_count = 0;
  std::memcpy(&first_count, saved.data() + findings + sizeof first_count, sizeof first_count);
  const Bytes more = test::with_value(test::with_value(saved, findings, std::uint64_t{1001}),
                                      findings + sizeof first_count, first_count + 1);
  expect_refused(ErrorKind::bad_input, more, load);
}

TEST_P(PairPartsTest, OfBinsThatAreDamagedOrForgedAreRefused) {
  const Source x = source_of("x", std::vector<float>(1000, 1));
  const HistogramOptions few{.bins = 3};
  const Bytes saved = collect_pair_bins(machine(), {x, "", few}, {x, "", even}).value.save();
  const auto load_as = [](const HistogramOptions& x_bins, const HistogramOptions& y_bins) {
    return [=](const Bytes& bytes) {
      return load_pair_bins({ElementType::f4, x_bins}, {ElementType::f4, y_bins}, bytes);
    };
  };
  const auto load = load_as(few, even);
  (void)load(saved);
  test::expect_whole_only(saved, load);
  test::expect_all_bits_count(saved, 0, sizeof(std::uint64_t), load);
  const std::size_t lowest = test::place_of_findings(saved) + sizeof(std::uint64_t);
  for (const double other : {test::nan, test::infinity, 2.0}) {
    expect_refused(ErrorKind::bad_input, test::with_value(saved, lowest, other), load);
  }
  const std::size_t nan_place = lowest + 2 * sizeof(double);
  expect_refused(ErrorKind::bad_input, test::with_value(saved, nan_place, std::uint64_t{1001}),
                 load);
  expect_refused(ErrorKind::usage, saved, load_as({.bins = 4}, even));
  expect_refused(ErrorKind::usage, saved, load_as({.bins = 3, .logarithmic = true}, even));
  expect_refused(ErrorKind::usage, saved, load_as(few, {.bins = 37, .range = {{0, 91}}}));
  expect_refused(ErrorKind::usage, saved, load_as(few, {.bins = 37}));
  const Source no_numbers = source_of("nan", std::vector<float>(4, test::float_nan));
  const PairAxis axis{no_numbers, "", few};
  const Bytes none = collect_pair_bins(machine(), axis, axis).value.save();
  test::expect_error(ErrorKind::bad_input, "the x axis: the data has no finite value",
                     [&] { (void)load_as(few, few)(none).result(); });
}

TEST_P(PairPartsTest, GoOnWhereTheyWereStopped) {
  Source table = source_of("table", numbers<float>(3 * 8 * tile_elements, 1));
  table.set_columns(3);
  const Source half = shard_rows(table, 1, 2);
  const PairAxis x{half, "0", even}, y{half, "2", even};
  const Bytes whole = collect_histogram_2d(machine(), x, y).value.save();
  const Checkpoint checkpoint{.file = dir_.path() / "part", .every_seconds = 0};
  std::stop_source stop;
  PassOptions wanted{.stop = stop.get_token(), .checkpoint = checkpoint};
  wanted.progress = [&](const Progress& progress) {
    if (progress.bytes > progress.total_bytes / 2) stop.request_stop();
  };
  test::expect_error(ErrorKind::interrupted, "part",
                     [&] { (void)collect_histogram_2d(machine(), x, y, wanted); });
  // The file names the places of the numbers, so that other columns do not go on from it.
  EXPECT_NE(read_part_file(checkpoint.file).question.find("float32 at 0, float32 at 8, 37 bins"),
            std::string::npos)
      << read_part_file(checkpoint.file).question;
  test::expect_error(ErrorKind::usage, "part", [&] {
    (void)collect_histogram_2d(machine(), x, {half, "1", even}, {.checkpoint = checkpoint});
  });
  const auto [found, stats] = collect_histogram_2d(machine(), x, y, {.checkpoint = checkpoint});
  EXPECT_EQ(found.save(), whole);
  EXPECT_GT(stats.outcome.resumed_bytes, 0u);
}

}  // namespace
}  // namespace ooc::detail
