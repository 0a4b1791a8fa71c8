// Tests splits of elements, structs, rows and zipped sources among up to 4,096 targets.

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/error.hpp>
#include <ooc/split.hpp>

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <tuple>
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
using Choice = std::function<std::uint16_t(Value)>;

/// Lets `choose` say for each value to which output it goes.
template <class T>
void assign_each(Stream& stream, DeviceSpan<const T> in, DeviceSpan<std::uint16_t> outputs,
                 const std::function<std::uint16_t(const T&)>& choose) {
  std::vector<std::uint16_t> chosen;
  for (const T& value : on_host(stream, in)) chosen.push_back(choose(value));
  EXPECT_EQ(chosen.size(), outputs.size);
  to_device(stream, outputs.data, std::span<const std::uint16_t>(chosen));
}

struct ByValue {
  using Input = Value;
  Choice choose;

  void assign(Stream& stream, DeviceChunk<const Value> in,
              DeviceSpan<std::uint16_t> outputs) const {
    assign_each<Value>(stream, in, outputs, choose);
  }
};

struct Labelled {
  Value value;
  std::int16_t label;
  std::array<std::uint8_t, 6> rest;

  static constexpr auto fields =
      ooc::fields(field("value", &Labelled::value), field("label", &Labelled::label),
                  field("rest", &Labelled::rest));
};

struct ByLabel {
  using Input = Labelled;

  void assign(Stream& stream, DeviceChunk<const Labelled> in,
              DeviceSpan<std::uint16_t> outputs) const {
    assign_each<Labelled>(stream, in, outputs, [](const Labelled& each) {
      return static_cast<std::uint16_t>(each.label);
    });
  }
};

template <class T>
struct ByFirst {
  using Input = Row<T>;
  std::size_t outputs;

  void assign(Stream& stream, DeviceRows<const T> in, DeviceSpan<std::uint16_t> numbers) const {
    std::vector<std::uint16_t> chosen;
    const std::vector<T> values = on_host(stream, DeviceSpan<const T>(in));
    for (std::size_t row = 0; row < in.rows(); ++row) {
      chosen.push_back(static_cast<std::uint16_t>(values[row * in.columns] % outputs));
    }
    to_device(stream, numbers.data, std::span<const std::uint16_t>(chosen));
  }
};

struct ByKey {
  using Input = std::tuple<Value, std::uint8_t>;

  void assign(Stream& stream, DeviceChunk<const Value>, DeviceChunk<const std::uint8_t> keys,
              DeviceSpan<std::uint16_t> outputs) const {
    assign_each<std::uint8_t>(stream, keys, outputs, [](const std::uint8_t& key) { return key; });
  }
};

struct ByRise {
  using Input = Value;
  std::size_t before() const { return 1; }

  void assign(Stream& stream, DeviceWindow<const Value> in,
              DeviceSpan<std::uint16_t> outputs) const {
    const std::vector<Value> values =
        on_host(stream, DeviceSpan<const Value>{in.data - in.before, in.before + in.size});
    std::vector<std::uint16_t> chosen;
    for (std::size_t i = in.before; i < values.size(); ++i) {
      chosen.push_back(i != 0 && values[i] > values[i - 1] ? 1 : 0);
    }
    to_device(stream, outputs.data, std::span<const std::uint16_t>(chosen));
  }
};

static_assert(SplitOperator<ByValue> && SplitOperator<ByFirst<Value>> && !SplitOperator<int>);

class SplitTest : public testing::TestWithParam<Machine> {
 protected:
  static constexpr std::size_t count_ = 500'001;
  static constexpr std::size_t header_bytes_ = 4096;

  void SetUp() override {
    OOC_SKIP_WITHOUT_MACHINE(GetParam());
    for (std::size_t i = 0; i < count_; ++i) {
      values_.push_back(static_cast<Value>(i * 2654435761u >> 7));
    }
    test::write_file(dir_.path() / "values.u32", values_);
  }

  Coordinator coordinator(Options options = {}) const {
    return Coordinator(test::make_device(GetParam()), std::move(options));
  }

  Source source() const { return open(dir_.path() / "values.u32"); }

  std::vector<Target> targets(std::size_t count, const std::string& ending = ".u32",
                              const std::filesystem::path& directory = ".") const {
    std::vector<Target> all(count, {.path = {}, .replace = true});
    for (std::size_t i = 0; i < count; ++i) {
      all[i].path = dir_.path() / directory / (std::to_string(i) + ending);
    }
    return all;
  }

  template <class T>
  static std::vector<T> read(const Target& target) {
    const std::string bytes = test::read_whole(target.path);
    const std::size_t skipped = target.is_npy() ? header_bytes_ : 0;
    std::vector<T> values((bytes.size() - skipped) / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data() + skipped, bytes.size() - skipped);
    return values;
  }

  /// Expects that each target has the values that `choose` gives it, in their order.
  void expect_split(const std::vector<Target>& all, const Choice& choose,
                    const std::vector<std::uint64_t>& counts) const {
    std::vector<std::vector<Value>> expected(all.size());
    for (const Value value : values_) expected[choose(value)].push_back(value);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(counts.at(i), expected[i].size()) << i;
      EXPECT_TRUE(read<Value>(all[i]) == expected[i]) << "output " << i << " of " << all.size();
    }
  }

  std::string error_of(const std::function<void()>& act, ErrorKind kind) const {
    try {
      act();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      return error.what();
    }
    return "no error";
  }

  test::TempDir dir_;
  std::vector<Value> values_;
};

INSTANTIATE_TEST_SUITE_P(Machines, SplitTest, test::all_machines, test::machine_name);

class ManyOutputsTest : public SplitTest {};
INSTANTIATE_TEST_SUITE_P(Machines, ManyOutputsTest, testing::Values(Machine::cpu, Machine::cuda),
                         test::machine_name);

TEST_P(SplitTest, KeepsTheOrderInEachOutput) {
  for (const std::size_t outputs : {1u, 2u, 64u, 256u}) {
    const Choice choose = [outputs](Value value) {
      return static_cast<std::uint16_t>(value / 16 % outputs);
    };
    for (const std::size_t chunk : {std::size_t{0}, std::size_t{65536} * 4}) {
      for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
        if (outputs == 256 && (chunk == 0 || direct == DirectIo::no)) continue;  // takes longer
        Coordinator splits = coordinator({.chunk_bytes = chunk, .streams = 3, .direct = direct});
        const std::vector<Target> to = targets(outputs);
        const auto [counts, stats] = split(splits, ByValue{choose}, source(), to);
        expect_split(to, choose, counts);
        EXPECT_EQ(stats.outcome.bytes_written, count_ * sizeof(Value));
        EXPECT_EQ(stats.outcome.records, count_);
      }
    }
  }
}

TEST_P(ManyOutputsTest, WritesThousandsOfFiles) {
  constexpr std::size_t outputs = 4096, descriptors = 2 * outputs + 100;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < descriptors) GTEST_SKIP() << "no " << descriptors << " open files";
  const rlimit raised{std::max<rlim_t>(limit.rlim_cur, descriptors), limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &raised), 0);
  const Choice choose = [](Value value) { return static_cast<std::uint16_t>(value % outputs); };
  Coordinator splits = coordinator({.streams = 2});
  const test::TempDir in_memory("/dev/shm");  // a disk takes a minute to sync them
  const std::vector<Target> to = targets(outputs, ".npy", in_memory.path());
  expect_split(to, choose, split(splits, ByValue{choose}, source(), to).value);
  setrlimit(RLIMIT_NOFILE, &limit);
}

TEST_P(SplitTest, WritesWholePagesDirectly) {
  std::atomic<std::uint64_t> direct{0};
  const Choice choose = [](Value value) { return static_cast<std::uint16_t>(value / 8 % 2); };
  Coordinator splits = coordinator(test::counting_direct_writes({.chunk_bytes = 262144}, direct));
  const std::vector<Target> to = targets(2);
  if (OutputFile(to[0].path, 1 << 20, false).direct() < 0) GTEST_SKIP() << "no direct writes here";
  const auto [counts, stats] = split(splits, ByValue{choose}, source(), to);
  // All but the two ends of each piece.
  const std::uint64_t ends = 2 * page_bytes * stats.layout.chunks * to.size();
  EXPECT_GT(direct + ends, count_ * sizeof(Value));
  EXPECT_GT(direct, 0u);
  expect_split(to, choose, counts);
}

TEST_P(SplitTest, LeavesOutputsEmpty) {
  for (const std::uint16_t output : std::array<std::uint16_t, 3>{0, 3, 6}) {
    const Choice choose = [output](Value) { return output; };
    Coordinator splits = coordinator({.chunk_bytes = 262144, .streams = 2});
    const std::vector<Target> to = targets(7, ".npy");
    expect_split(to, choose, split(splits, ByValue{choose}, source(), to).value);
    EXPECT_EQ(open(to[1].path).shape().front(), 0u);
  }
  test::write_file(dir_.path() / "empty.u32", std::vector<Value>{});
  Coordinator splits = coordinator();
  const std::vector<Target> to = targets(2, ".npy");
  const auto [counts, stats] = split(splits, ByValue{[](Value) -> std::uint16_t { return 1; }},
                                     open(dir_.path() / "empty.u32"), to);
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{0, 0}));
  EXPECT_EQ(open(to[1].path).bytes(), 0u);
}

TEST_P(SplitTest, WritesToMemoryAndInTheOtherByteOrder) {
  const test::TempDir memory("/dev/shm");
  const Choice choose = [](Value value) { return static_cast<std::uint16_t>(value % 3); };
  std::vector<Target> to = targets(3, ".npy");
  for (Target& target : to) {
    target.path = memory.path() / target.path.filename();
    target.type = DType{ElementType::u4, true};
  }
  Coordinator splits = coordinator({.chunk_bytes = 262144, .streams = 2});
  split(splits, ByValue{choose}, source(), to);
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::vector<Value> expected = values_;
    std::erase_if(expected, [i](Value value) { return value % 3 != i; });
    for (Value& value : expected) value = __builtin_bswap32(value);
    EXPECT_TRUE(read<Value>(to[i]) == expected) << i;
  }
}

TEST_P(SplitTest, DividesStructs) {
  std::vector<Labelled> structs;
  for (std::size_t i = 0; i < 100'003; ++i) {
    const auto label = static_cast<std::int16_t>(values_[i] / 8 % 5);
    structs.push_back({values_[i], label, {1, 2, 3, 4, 5, static_cast<std::uint8_t>(i)}});
  }
  Coordinator splits = coordinator({.chunk_bytes = 400'000, .streams = 2});
  const std::vector<Target> to = targets(5, ".npy");
  const Source source = from_memory(structs);
  const auto [counts, stats] = split(splits, ByLabel{}, source, to);
  for (std::int16_t label = 0; label < 5; ++label) {
    std::string expected;
    for (const Labelled& each : structs) {
      if (each.label != label) continue;
      expected.append(reinterpret_cast<const char*>(&each), sizeof each);
    }
    const Target& target = to[static_cast<std::size_t>(label)];
    EXPECT_TRUE(test::read_whole(target.path).substr(header_bytes_) == expected) << label;
    EXPECT_EQ(open(target.path).type(), type_of<Labelled>());
  }
}

template <class T>
std::vector<T> rows_of(const std::vector<T>& values, std::size_t columns, std::size_t outputs,
                       std::size_t output) {
  std::vector<T> rows;
  for (std::size_t i = 0; i + columns <= values.size(); i += columns) {
    if (values[i] % outputs != output) continue;
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(i);
    rows.insert(rows.end(), first, first + static_cast<std::ptrdiff_t>(columns));
  }
  return rows;
}

TEST_P(SplitTest, DividesRows) {
  constexpr std::size_t outputs = 11;
  const auto expect_rows = [this]<class T>(std::vector<T> values, std::size_t columns) {
    values.resize(count_ / columns * columns);
    Coordinator splits = coordinator({.chunk_bytes = 500'000, .streams = 2});
    const std::vector<Target> to = targets(outputs, ".npy");
    const auto [counts, stats] =
        split(splits, ByFirst<T>{outputs}, from_memory(values, columns), to);
    for (std::size_t i = 0; i < outputs; ++i) {
      EXPECT_TRUE(read<T>(to[i]) == rows_of(values, columns, outputs, i)) << i;
      EXPECT_EQ(open(to[i].path).rows(), counts[i]);
      EXPECT_EQ(open(to[i].path).columns(), columns);
    }
  };
  std::vector<std::uint8_t> bytes;
  for (const Value value : values_) bytes.push_back(static_cast<std::uint8_t>(value >> 3));
  for (const std::size_t columns : {1u, 2u, 3u, 4u, 7u}) {
    expect_rows(values_, columns);
    expect_rows(bytes, columns);
  }
}

TEST_P(SplitTest, ReadsKeysOfAnotherSourceAndNeighbours) {
  std::vector<std::uint8_t> keys(count_);
  std::array<std::vector<Value>, 4> by_key;
  std::array<std::vector<Value>, 2> by_rise;
  for (std::size_t i = 0; i < count_; ++i) {
    keys[i] = static_cast<std::uint8_t>(i * i % 7 % 4);
    by_key[keys[i]].push_back(values_[i]);
    by_rise[i != 0 && values_[i] > values_[i - 1] ? 1 : 0].push_back(values_[i]);
  }
  Coordinator splits = coordinator({.chunk_bytes = 400'000, .streams = 2});
  const Source values = source(), others = from_memory(keys);
  std::vector<Target> to = targets(4);
  split(splits, ByKey{}, zip(values, others), to);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(read<Value>(to[i]) == by_key[i]) << i;
  to.resize(2);
  split(splits, ByRise{}, values, to);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(read<Value>(to[i]) == by_rise[i]) << i;
}

TEST_P(SplitTest, RefusesTheFirstRecordWithoutAnOutput) {
  const Value bad = values_[300'000];
  const Choice choose = [bad](Value value) {
    return static_cast<std::uint16_t>(value == bad ? 9 : value % 2);
  };
  const auto first = std::ranges::find(values_, bad) - values_.begin();
  for (const std::size_t streams : {1u, 3u}) {
    Coordinator splits = coordinator({.chunk_bytes = 262144, .streams = streams});
    const auto act = [&] { split(splits, ByValue{choose}, source(), targets(9)); };
    EXPECT_EQ(error_of(act, ErrorKind::usage), "record " + std::to_string(first / 1000) + "," +
                                                   std::to_string(1000 + first % 1000).substr(1) +
                                                   ": the operator assigns none of the 9 outputs");
    EXPECT_EQ(dir_.names(), std::vector<std::string>{"values.u32"});
    const std::vector<Target> to = targets(10);
    expect_split(to, choose, split(splits, ByValue{choose}, source(), to).value);
    for (const Target& target : to) std::filesystem::remove(target.path);
  }
}

TEST_P(SplitTest, LeavesNothingBehindWhenItIsStopped) {
  std::stop_source stop;
  const Choice choose = [&stop](Value value) {
    stop.request_stop();
    return static_cast<std::uint16_t>(value % 4);
  };
  Coordinator splits = coordinator({.chunk_bytes = 262144, .streams = 1});
  const auto act = [&] {
    split(splits, ByValue{choose}, source(), targets(4), {.stop = stop.get_token()});
  };
  error_of(act, ErrorKind::interrupted);
  EXPECT_EQ(dir_.names(), std::vector<std::string>{"values.u32"});
}

TEST_P(SplitTest, RefusesTargetsThatCannotBe) {
  Coordinator splits = coordinator();
  const ByValue op{[](Value) -> std::uint16_t { return 0; }};
  const auto error = [&](const std::vector<Target>& to) {
    return error_of([&] { split(splits, op, source(), to); }, ErrorKind::usage);
  };
  EXPECT_EQ(error({}), "0 outputs; between 1 and 4,096 are possible");
  EXPECT_EQ(error(targets(4097)), "4097 outputs; between 1 and 4,096 are possible");
  std::vector<Target> to = targets(3);
  to[2].path = dir_.path() / "." / "0.u32";
  EXPECT_EQ(error(to), to[2].path.string() + ": is the target of two outputs");
  to = targets(2, ".npy");
  to[1].type = DType{ElementType::u4, true};
  EXPECT_EQ(error(to), to[1].path.string() + ": has another type than " + to[0].path.string());
  EXPECT_EQ(dir_.names(), std::vector<std::string>{"values.u32"});
}

}  // namespace
}  // namespace ooc::detail
