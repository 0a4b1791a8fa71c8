// Tests filters of elements, rows and zipped sources, to one target and to several.

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/error.hpp>
#include <ooc/filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/data_file.hpp"
#include "support/direct_writes_engine.hpp"
#include "support/host_operators.hpp"
#include "support/machines.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::Machine;
using test::on_host;
using test::to_device;
using Value = std::uint32_t;

/// Leaves `kept` at the beginning of `out`.
template <class T>
void keep(Stream& stream, DeviceSpan<T> out, const std::vector<T>& kept, std::uint64_t* number) {
  to_device(stream, out.data, std::span<const T>(kept));
  to_device(stream, number, std::uint64_t{kept.size()});
}

struct KeepBelow {
  using Input = Value;
  using Output = Value;
  Value limit;

  void select(Stream& stream, DeviceChunk<const Value> in, DeviceSpan<Value> out,
              std::uint64_t* kept) const {
    EXPECT_GE(out.size, in.size);
    std::vector<Value> values = on_host(stream, in);
    std::erase_if(values, [this](Value value) { return value >= limit; });
    keep(stream, out, values, kept);
  }
};

/// Divides values among two outputs; the places of the second are kept, too.
struct Divide {
  using Input = Value;
  using Output = std::tuple<Value, std::uint64_t>;
  Value limit;

  void select(Stream& stream, DeviceChunk<const Value> in, DeviceSpan<Value> below,
              DeviceSpan<std::uint64_t> places, std::uint64_t* kept) const {
    const std::vector<Value> values = on_host(stream, in);
    std::vector<Value> first;
    std::vector<std::uint64_t> second;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] < limit) {
        first.push_back(values[i]);
      } else {
        second.push_back(in.first + i);
      }
    }
    keep(stream, below, first, kept);
    keep(stream, places, second, kept + 1);
  }
};

/// Keeps rows whose first element is even.
struct KeepEvenRows {
  using Input = Row<Value>;
  using Output = Row<Value>;

  void select(Stream& stream, DeviceRows<const Value> in, DeviceRows<Value> out,
              std::uint64_t* kept) const {
    const std::vector<Value> values = on_host(stream, in);
    std::vector<Value> rows;
    for (std::size_t row = 0; row < in.rows(); ++row) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * in.columns);
      if (*first % 2 != 0) continue;
      rows.insert(rows.end(), first, first + static_cast<std::ptrdiff_t>(in.columns));
    }
    to_device(stream, out.data, std::span<const Value>(rows));
    to_device(stream, kept, std::uint64_t{rows.size() / in.columns});
  }
};

/// Keeps values that a mask marks.
struct Masked {
  using Input = std::tuple<Value, std::uint8_t>;
  using Output = Value;

  void select(Stream& stream, DeviceChunk<const Value> in, DeviceChunk<const std::uint8_t> mask,
              DeviceSpan<Value> out, std::uint64_t* kept) const {
    const std::vector<Value> values = on_host(stream, in);
    const std::vector<std::uint8_t> marks = on_host(stream, mask);
    std::vector<Value> marked;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (marks[i] != 0) marked.push_back(values[i]);
    }
    keep(stream, out, marked, kept);
  }
};

/// Keeps values that are larger than the one before.
struct KeepRises {
  using Input = Value;
  using Output = Value;
  std::size_t before() const { return 1; }

  void select(Stream& stream, DeviceWindow<const Value> in, DeviceSpan<Value> out,
              std::uint64_t* kept) const {
    const std::vector<Value> values =
        on_host(stream, DeviceSpan<const Value>{in.data - in.before, in.before + in.size});
    std::vector<Value> rises;
    for (std::size_t i = 1; i < values.size(); ++i) {
      if (values[i] > values[i - 1]) rises.push_back(values[i]);
    }
    keep(stream, out, rises, kept);
  }
};

/// Says nothing, adds to what was there before, or says one record more than there are.
struct KeepWrongly {
  using Input = Value;
  using Output = Value;
  enum class Way { silent, adds, too_many } way;

  void select(Stream& stream, DeviceChunk<const Value> in, DeviceSpan<Value>,
              std::uint64_t* kept) const {
    const std::uint64_t before = on_host(stream, DeviceSpan<std::uint64_t>{kept, 1}).front();
    if (way == Way::adds) to_device(stream, kept, before + 7);
    if (way == Way::too_many) to_device(stream, kept, std::uint64_t{in.size + 1});
  }
};

static_assert(FilterOperator<Divide> && FilterOperator<KeepEvenRows> && !FilterOperator<int>);

class FilterTest : public testing::TestWithParam<Machine> {
 protected:
  static constexpr std::size_t count_ = 700'001;

  void SetUp() override {
    OOC_SKIP_WITHOUT_MACHINE(GetParam());
    for (std::size_t i = 0; i < count_; ++i) {
      values_.push_back(static_cast<Value>(i * 2654435761u >> 12) % 1000);
    }
    test::write_file(dir_.path() / "values.u32", values_);
  }

  Coordinator coordinator(Options options = {}) const {
    return Coordinator(test::make_device(GetParam()), std::move(options));
  }

  Source source() const { return open(dir_.path() / "values.u32"); }
  Target target(const std::string& name, ElementType type = ElementType::u4) const {
    return {.path = dir_.path() / name, .type = {type}, .replace = true};
  }

  template <class T>
  std::vector<T> read(const std::string& name, std::size_t skipped = 0) const {
    const std::string bytes = test::read_whole(dir_.path() / name).substr(skipped);
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

  std::vector<Value> below(Value limit) const {
    std::vector<Value> kept = values_;
    std::erase_if(kept, [limit](Value value) { return value >= limit; });
    return kept;
  }

  static constexpr std::size_t header_bytes_ = 4096;
  test::TempDir dir_;
  std::vector<Value> values_;
};

INSTANTIATE_TEST_SUITE_P(Machines, FilterTest, test::all_machines, test::machine_name);

TEST_P(FilterTest, KeepsRecordsInTheirOrder) {
  for (const Value limit : {0u, 1u, 3u, 500u, 999u, 1000u}) {
    const std::vector<Value> expected = below(limit);
    for (const std::size_t chunk : {std::size_t{0}, std::size_t{65536} * 4}) {
      for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
        for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
          Coordinator filters =
              coordinator({.chunk_bytes = chunk, .streams = 3, .engine = engine, .direct = direct});
          const auto [found, stats] =
              filter(filters, KeepBelow{limit}, source(), target("kept.u32"));
          EXPECT_EQ(found.seen, count_);
          EXPECT_EQ(found.kept, expected.size());
          EXPECT_EQ(read<Value>("kept.u32"), expected) << limit << ", chunks of " << chunk;
          EXPECT_EQ(stats.outcome.bytes_written, expected.size() * sizeof(Value));
          EXPECT_TRUE(stats.layout.in_order);
        }
      }
    }
  }
}

TEST_P(FilterTest, WritesTheNumberOfRecordsInTheHeader) {
  Coordinator filters = coordinator();
  for (const Value limit : {0u, 500u}) {
    const auto [found, stats] = filter(filters, KeepBelow{limit}, source(), target("kept.npy"));
    const Source kept = open(dir_.path() / "kept.npy");
    EXPECT_EQ(std::vector(kept.shape().begin(), kept.shape().end()),
              std::vector<std::uint64_t>{found.kept});
    EXPECT_EQ(read<Value>("kept.npy", header_bytes_), below(limit));
  }
}

TEST_P(FilterTest, WritesWholePagesDirectly) {
  std::atomic<std::uint64_t> direct{0};
  Coordinator filters = coordinator(test::counting_direct_writes({.chunk_bytes = 262144}, direct));
  const Target to = target("kept.npy");
  if (OutputFile(to.path, 1 << 20, false).direct() < 0) GTEST_SKIP() << "no direct writes here";
  const auto [found, stats] = filter(filters, KeepBelow{500}, source(), to);
  // All but the two ends of what is kept of each chunk.
  const std::uint64_t ends = 2 * page_bytes * stats.layout.chunks;
  EXPECT_GT(direct + ends, found.kept * sizeof(Value));
  EXPECT_GT(direct, 0u);
}

TEST_P(FilterTest, WritesTheOtherByteOrder) {
  Coordinator filters = coordinator();
  Target swapped = target("kept.npy");
  swapped.type->swapped = true;
  filter(filters, KeepBelow{500}, source(), swapped);
  std::vector<Value> kept = read<Value>("kept.npy", header_bytes_);
  for (Value& value : kept) value = __builtin_bswap32(value);
  EXPECT_EQ(kept, below(500));
}

TEST_P(FilterTest, DividesRecordsAmongSeveralFiles) {
  for (const Value limit : {0u, 7u, 1000u}) {
    Coordinator filters = coordinator({.chunk_bytes = 262144, .streams = 2});
    const std::array targets{target("below.u32"), target("places.npy", ElementType::u8)};
    const auto [found, stats] = filter(filters, Divide{limit}, source(), targets);
    std::vector<std::uint64_t> places;
    for (std::size_t i = 0; i < count_; ++i) {
      if (values_[i] >= limit) places.push_back(i);
    }
    EXPECT_EQ(found[0].kept, count_ - places.size());
    EXPECT_EQ(found[1].kept, places.size());
    EXPECT_EQ(read<Value>("below.u32"), below(limit));
    EXPECT_EQ(read<std::uint64_t>("places.npy", header_bytes_), places);
  }
}

TEST_P(FilterTest, KeepsRows) {
  constexpr std::size_t columns = 7;
  Target made = target("rows.npy");
  made.shape = {count_ / columns, columns};
  TargetFile file(made, count_ / columns * columns, {});
  file.write(file.data_offset(),
             std::as_bytes(std::span(values_).first(count_ / columns * columns)));
  file.commit();
  std::vector<Value> expected;
  for (std::size_t i = 0; i + columns <= count_; i += columns) {
    if (values_[i] % 2 == 0) {
      expected.insert(expected.end(), values_.begin() + static_cast<std::ptrdiff_t>(i),
                      values_.begin() + static_cast<std::ptrdiff_t>(i + columns));
    }
  }
  Coordinator filters = coordinator({.chunk_bytes = 500'000});
  const auto [found, stats] =
      filter(filters, KeepEvenRows{}, open(dir_.path() / "rows.npy"), target("even.npy"));
  EXPECT_EQ(found.seen, count_ / columns);
  EXPECT_EQ(found.kept, expected.size() / columns);
  const Source even = open(dir_.path() / "even.npy");
  EXPECT_EQ(std::vector(even.shape().begin(), even.shape().end()),
            (std::vector<std::uint64_t>{found.kept, columns}));
  EXPECT_EQ(read<Value>("even.npy", header_bytes_), expected);
}

TEST_P(FilterTest, ReadsSeveralSourcesAndNeighbours) {
  std::vector<std::uint8_t> mask(count_);
  std::vector<Value> marked, rises;
  for (std::size_t i = 0; i < count_; ++i) {
    mask[i] = i % 5 == 0;
    if (mask[i] != 0) marked.push_back(values_[i]);
    if (i != 0 && values_[i] > values_[i - 1]) rises.push_back(values_[i]);
  }
  test::write_file(dir_.path() / "mask.u8", mask);
  Coordinator filters = coordinator({.chunk_bytes = 400'000});
  const Source values = source(), marks = open(dir_.path() / "mask.u8");
  filter(filters, Masked{}, zip(values, marks), target("marked.u32"));
  EXPECT_EQ(read<Value>("marked.u32"), marked);
  filter(filters, KeepRises{}, values, target("rises.u32"));
  EXPECT_EQ(read<Value>("rises.u32"), rises);
}

TEST_P(FilterTest, WritesToMemory) {
  const test::TempDir memory("/dev/shm");
  Coordinator filters = coordinator({.chunk_bytes = 262144, .streams = 2});
  for (const Value limit : {0u, 500u, 1000u}) {
    const std::filesystem::path path = memory.path() / "kept.u32";
    filter(filters, KeepBelow{limit}, source(),
           {.path = path, .type = {ElementType::u4}, .replace = true});
    EXPECT_TRUE(test::read_whole(path) ==
                std::string(reinterpret_cast<const char*>(below(limit).data()),
                            below(limit).size() * sizeof(Value)))
        << limit;
  }
}

TEST_P(FilterTest, OfNothingWritesAFileOfNothing) {
  test::write_file(dir_.path() / "empty.u32", std::vector<Value>{});
  Coordinator filters = coordinator();
  const auto [found, stats] =
      filter(filters, KeepBelow{5}, open(dir_.path() / "empty.u32"), target("kept.npy"));
  EXPECT_EQ(found.seen + found.kept, 0u);
  EXPECT_EQ(open(dir_.path() / "kept.npy").bytes(), 0u);
}

TEST_P(FilterTest, LeavesNothingBehindWhenItFails) {
  Coordinator filters = coordinator({.chunk_bytes = 262144});
  const auto error_of = [&](const auto& op, const Target& to) -> std::string {
    try {
      filter(filters, op, source(), to);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  using Way = KeepWrongly::Way;
  EXPECT_EQ(error_of(KeepWrongly{Way::too_many}, target("kept.u32")),
            "the operator says that it kept 65537 of 65536 records");
  for (const Way way : {Way::silent, Way::adds}) {
    EXPECT_EQ(error_of(KeepWrongly{way}, target("kept.u32")),
              "the operator does not say how many records it kept");
  }
  Target shaped = target("kept.npy");
  shaped.shape = {7};
  EXPECT_EQ(error_of(KeepBelow{5}, shaped),
            shaped.path.string() + ": the shape of what is kept cannot be given");
  EXPECT_EQ(error_of(KeepBelow{5}, target("kept.f32", ElementType::f4)),
            (dir_.path() / "kept.f32").string() +
                ": the operator makes uint32, the target is to hold float32");
  EXPECT_EQ(dir_.names(), std::vector<std::string>{"values.u32"});
  // Another pass of the same coordinator is right.
  filter(filters, KeepBelow{5}, source(), target("kept.u32"));
  EXPECT_EQ(read<Value>("kept.u32"), below(5));
}

TEST_P(FilterTest, RefusesOneFileForTwoOutputs) {
  Coordinator filters = coordinator();
  std::filesystem::create_symlink("kept.u64", dir_.path() / "link.u64");
  std::filesystem::create_directory_symlink(".", dir_.path() / "here");
  for (const char* const other : {"kept.u64", "link.u64", "here/kept.u64", "./here/./kept.u64"}) {
    const std::array targets{target("kept.u64"), target(other, ElementType::u8)};
    try {
      filter(filters, Divide{5}, source(), targets);
      ADD_FAILURE() << "no error: " << other;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(error.what(), targets[1].path.string() + ": is the target of two outputs");
    }
  }
}

}  // namespace
}  // namespace ooc::detail
