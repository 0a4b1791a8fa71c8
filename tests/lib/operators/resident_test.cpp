#include <ooc/resident.hpp>

#include <ooc/chunks.hpp>
#include <ooc/filter.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/scan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "io/expect_error.hpp"
#include "support/host_operators.hpp"
#include "support/machines.hpp"
#include "support/operators.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"
#include "support/values_file.hpp"
#include "support/wrapped_engine.hpp"

namespace ooc {
namespace {

constexpr std::size_t partition = 4096;  // elements

/// Adds up values on the host in float, so that the bits of the sum show the order.
struct RoundedSum {
  using Input = float;
  using Partial = float;
  static constexpr std::size_t partition_records = partition;
  std::function<void()> at_partition = [] {};

  void consume(Stream& stream, DeviceChunk<const float> in, float& sum) const {
    at_partition();
    for (const float value : test::on_host<const float>(stream, in)) sum += value;
  }
  void merge(float& total, const float& part) const { total += part; }
};

/// Subtracts and multiplies what it is given, in the order of the data.
struct OrderedMix {
  using Input = float;
  using Partial = std::vector<float>;
  static constexpr Merge merge_order = Merge::in_order;
  static constexpr std::size_t partition_records = partition;

  void consume(Stream& stream, DeviceChunk<const float> in, Partial& mixed) const {
    float sum = 0;
    for (const float value : test::on_host<const float>(stream, in)) sum = 0.5f * sum - value;
    mixed.push_back(sum);
  }
  void merge(Partial& total, const Partial& part) const {
    total.insert(total.end(), part.begin(), part.end());
  }
};

/// The sum of the rows, weighted by their number.
struct RowSums {
  using Input = Row<float>;
  using Partial = std::vector<double>;
  static constexpr std::size_t partition_records = 512;

  void consume(Stream& stream, DeviceRows<const float> in, Partial& sums) const {
    sums.resize(in.columns);
    const auto values = test::on_host<const float>(stream, in);
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums[i % in.columns] += values[i] * static_cast<double>(in.first + i / in.columns);
    }
  }
  void merge(Partial& total, const Partial& part) const {
    total.resize(std::max(total.size(), part.size()));
    for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
  }
};

/// The differences to the values two places before, zero at the beginning.
struct Differences {
  using Input = float;
  using Output = float;
  std::size_t before() const { return 2; }
  std::size_t after() const { return 0; }
  void transform(Stream& stream, DeviceWindow<const float> in, DeviceSpan<float> out) const {
    std::vector<float> values(in.before + in.size), made(in.size);
    stream.copy(values.data(), in.data - in.before, values.size() * sizeof(float));
    stream.synchronize();
    for (std::size_t i = 0; i < in.size; ++i) {
      const std::size_t place = in.before + i;
      made[i] = place < 2 ? 0 : values[place] - values[place - 2];
    }
    test::to_device(stream, out.data, std::span<const float>(made));
  }
};

struct Doubled {
  using Input = float;
  using Output = float;
  void transform(Stream& stream, DeviceSpan<const float> in, DeviceSpan<float> out) const {
    auto values = test::on_host<const float>(stream, in);
    for (float& value : values) value *= 2;
    test::to_device(stream, out.data, std::span<const float>(values));
  }
};

struct KeepLarge {
  using Input = float;
  using Output = float;
  void select(Stream& stream, DeviceSpan<const float> in, DeviceSpan<float> out,
              std::uint64_t* kept) const {
    auto values = test::on_host<const float>(stream, in);
    std::erase_if(values, [](float value) { return !(value > 0.5f); });
    test::to_device(stream, out.data, std::span<const float>(values));
    test::to_device(stream, kept, std::uint64_t{values.size()});
  }
};

/// Counts the bytes that are read.
class CountingEngine final : public test::WrappedEngine {
 public:
  CountingEngine(std::unique_ptr<Engine> engine, std::atomic<std::uint64_t>& bytes)
      : WrappedEngine(std::move(engine)), bytes_(bytes) {}
  void start(Request& request) override {
    bytes_ += request.bytes;
    WrappedEngine::start(request);
  }

 private:
  std::atomic<std::uint64_t>& bytes_;
};

class ResidentTest : public testing::TestWithParam<test::Machine> {
 protected:
  static constexpr std::size_t count_ = 50 * partition + 77;
  static constexpr std::uint64_t bytes_ = count_ * sizeof(float);
  static constexpr std::uint64_t all_ = std::uint64_t{1} << 30;

  void SetUp() override { OOC_SKIP_WITHOUT_MACHINE(GetParam()); }

  static std::vector<float> values() {
    std::vector<float> values(count_);
    for (std::size_t i = 0; i < count_; ++i) values[i] = 1.0f / static_cast<float>(i % 1000 + 1);
    return values;
  }

  Coordinator coordinator(Options options = {.chunk_bytes = 4 * partition * sizeof(float)}) {
    options.make_engine = [this](const EngineOptions& wanted) -> std::unique_ptr<Engine> {
      auto engine = make_engine(wanted);
      if (wanted.writes) return engine;
      return std::make_unique<CountingEngine>(std::move(engine), read_);
    };
    return Coordinator(test::make_device(GetParam()), options);
  }

  /// Returns the number of bytes that were read since the last call.
  std::uint64_t bytes_read() { return read_.exchange(0); }

  std::string made(const std::string& name) const { return test::read_whole(dir_.path() / name); }
  Target target(const std::string& name) const {
    return {.path = dir_.path() / name, .type = {ElementType::f4}, .replace = true};
  }

  test::ValuesFile file_;
  test::TempDir dir_;
  Source source_ = file_.source_of(values());
  std::atomic<std::uint64_t> read_{0};
};

TEST_P(ResidentTest, TheSecondPassReadsNothing) {
  Coordinator machine = coordinator();
  const float expected = fold(machine, RoundedSum{}, source_).value;
  bytes_read();
  const Resident kept(machine, source_, {.device_bytes = all_});
  EXPECT_EQ(kept.resident_bytes(), 0u);
  for (int pass = 0; pass < 3; ++pass) {
    const auto [sum, stats] = fold(machine, RoundedSum{}, kept);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(sum), std::bit_cast<std::uint32_t>(expected));
    EXPECT_EQ(stats.outcome.bytes, bytes_);
    EXPECT_EQ(stats.outcome.resident_bytes, pass == 0 ? 0 : bytes_);
    if (pass == 0) {
      EXPECT_GE(bytes_read(), bytes_);
    } else {
      EXPECT_EQ(bytes_read(), 0u);
    }
    EXPECT_EQ(kept.resident_bytes(), bytes_);
    const Reason reason{.what = Choice::resident_input, .figures = {bytes_, bytes_}};
    EXPECT_EQ(std::ranges::count(stats.layout.reasons, reason), pass == 0 ? 0 : 1);
  }
}

TEST_P(ResidentTest, APartStaysAndTheRestIsReadByTurns) {
  Coordinator machine = coordinator();
  const float expected = fold(machine, RoundedSum{}, source_).value;
  const auto mixed = fold(machine, OrderedMix{}, source_).value;
  const std::uint64_t step = 4 * partition * sizeof(float);
  for (const std::uint64_t wanted : {step - 1, step, 5 * step + 3, bytes_ - 1}) {
    const Resident kept(machine, source_, {.device_bytes = wanted});
    fold(machine, RoundedSum{}, kept);
    const std::uint64_t held = wanted / step * step;
    EXPECT_EQ(kept.resident_bytes(), held);
    bytes_read();
    const auto [sum, stats] = fold(machine, RoundedSum{}, kept);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(sum), std::bit_cast<std::uint32_t>(expected));
    EXPECT_EQ(stats.outcome.bytes, bytes_);
    EXPECT_EQ(stats.outcome.resident_bytes, held);
    const std::uint64_t read = bytes_read();
    EXPECT_GE(read, bytes_ - held);
    EXPECT_LE(read, bytes_ - held + 16 * 4096);  // whole blocks of the disk
    EXPECT_EQ(fold(machine, OrderedMix{}, kept).value, mixed);
    EXPECT_LE(bytes_read(), bytes_ - held + 16 * 4096);
  }
}

TEST_P(ResidentTest, PassesMayHaveOtherChunksThanTheFirst) {
  for (const std::size_t chunk : {1, 3, 16, 1000}) {
    Coordinator first = coordinator({.chunk_bytes = chunk * partition * sizeof(float)});
    const float expected = fold(first, RoundedSum{}, source_).value;
    const auto mixed = fold(first, OrderedMix{}, source_).value;
    const Resident kept(first, source_, {.device_bytes = bytes_ * 3 / 4});
    EXPECT_EQ(fold(first, OrderedMix{}, kept).value, mixed);  // fills
    const auto both = fold(first, std::tuple{RoundedSum{}, OrderedMix{}}, kept).value;
    EXPECT_EQ(std::get<0>(both), expected);
    EXPECT_EQ(std::get<1>(both), mixed);
    // Steps of another operator, which do not end where the resident part does.
    EXPECT_EQ(fold(first, test::Count<float>{}, kept).value, count_);
  }
}

TEST_P(ResidentTest, ElementsOfTheOtherByteOrderAreSwappedOnce) {
  std::vector<float> swapped = values();
  for (float& value : swapped) {
    value = std::bit_cast<float>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  }
  test::ValuesFile other;
  const Source source = other.source_of(swapped, true, 64);
  Coordinator machine = coordinator();
  const float expected = fold(machine, RoundedSum{}, source_).value;
  for (const std::uint64_t wanted : {all_, bytes_ / 2}) {
    const Resident kept(machine, source, {.device_bytes = wanted});
    for (int pass = 0; pass < 3; ++pass) {
      EXPECT_EQ(fold(machine, RoundedSum{}, kept).value, expected) << pass;
    }
    EXPECT_NE(kept.resident_bytes(), 0u);
  }
}

TEST_P(ResidentTest, HoldsRows) {
  std::vector<float> whole = values();
  whole.resize(50 * partition);
  Source rows = file_.source_of(whole);
  rows.set_shape({50 * partition / 8, 8});
  Coordinator machine = coordinator();
  const auto expected = fold(machine, RowSums{}, rows).value;
  for (const std::uint64_t wanted : {all_, bytes_ / 3}) {
    const Resident kept(machine, rows, {.device_bytes = wanted});
    for (int pass = 0; pass < 3; ++pass) EXPECT_EQ(fold(machine, RowSums{}, kept).value, expected);
    EXPECT_NE(kept.resident_bytes(), 0u);
  }
}

TEST_P(ResidentTest, IsWrittenFromToo) {
  Coordinator machine = coordinator();
  map(machine, Doubled{}, source_, target("doubled.f32"));
  map(machine, Differences{}, source_, target("differences.f32"));
  filter(machine, KeepLarge{}, source_, target("large.f32"));
  for (const std::uint64_t wanted : {all_, bytes_ / 2}) {
    const Resident kept(machine, source_, {.device_bytes = wanted});
    map(machine, Differences{}, kept, target("again.f32"));
    EXPECT_EQ(made("again.f32"), made("differences.f32"));
    EXPECT_EQ(kept.resident_bytes(), 0u);  // a pass with neighbours does not fill it
    for (int pass = 0; pass < 2; ++pass) {
      const Stats stats = map(machine, Doubled{}, kept, target("again.f32"));
      EXPECT_EQ(made("again.f32"), made("doubled.f32"));
      EXPECT_EQ(stats.outcome.resident_bytes, pass == 0 ? 0 : kept.resident_bytes());
    }
    const Stats stats = map(machine, Differences{}, kept, target("again.f32"));
    EXPECT_EQ(made("again.f32"), made("differences.f32"));
    EXPECT_NE(stats.outcome.resident_bytes, 0u);
    EXPECT_LE(stats.outcome.resident_bytes, kept.resident_bytes());
    const auto [selection, filtered] = filter(machine, KeepLarge{}, kept, target("again.f32"));
    EXPECT_EQ(made("again.f32"), made("large.f32"));
    EXPECT_EQ(filtered.outcome.resident_bytes, kept.resident_bytes());
  }
}

TEST_P(ResidentTest, ChunksOfTheCallersOwnLoopStayToo) {
  Coordinator machine = coordinator();
  machine.device().bind_to_thread();
  const auto stream = machine.device().make_stream();
  const std::vector<float> expected = values();
  for (const std::uint64_t wanted : {all_, bytes_ / 2}) {
    const Resident kept(machine, source_, {.device_bytes = wanted});
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<float> seen(count_);
      Chunks chunks(machine, kept, {.rows = 5000, .shuffle_seed = epoch});
      while (const auto chunk = chunks.next(*stream)) {
        stream->copy(seen.data() + chunk->first(), chunk->bytes().data, chunk->bytes().size);
      }
      stream->synchronize();
      EXPECT_EQ(seen, expected) << epoch;
      EXPECT_EQ(chunks.stats().outcome.resident_bytes, epoch == 0 ? 0 : kept.resident_bytes());
    }
    EXPECT_NE(kept.resident_bytes(), 0u);
  }
}

TEST_P(ResidentTest, AShardDoesNotFillIt) {
  Coordinator machine = coordinator();
  machine.device().bind_to_thread();
  const auto stream = machine.device().make_stream();
  const Resident kept(machine, source_, {.device_bytes = all_});
  {
    Chunks chunks(machine, kept, {.rows = 5000, .shard = 1, .shards = 2});
    while (chunks.next(*stream)) {
    }
  }
  EXPECT_EQ(kept.resident_bytes(), 0u);
}

TEST_P(ResidentTest, AChecksumIsOfWhatTheFilesHold) {
  Coordinator machine = coordinator();
  const auto expected = fold(machine, RoundedSum{}, source_, {.checksum = true});
  const Resident kept(machine, source_, {.device_bytes = all_});
  for (int pass = 0; pass < 2; ++pass) {
    const auto [sum, stats] = fold(machine, RoundedSum{}, kept, {.checksum = true});
    EXPECT_EQ(stats.outcome.checksum, expected.stats.outcome.checksum);
    EXPECT_EQ(stats.outcome.resident_bytes, 0u);
  }
  EXPECT_EQ(kept.resident_bytes(), bytes_);
  EXPECT_EQ(fold(machine, RoundedSum{}, kept).stats.outcome.resident_bytes, bytes_);
}

TEST_P(ResidentTest, APassThatFailsOrStopsLeavesNothing) {
  Coordinator machine = coordinator();
  const float expected = fold(machine, RoundedSum{}, source_).value;
  const Resident kept(machine, source_, {.device_bytes = all_});
  std::atomic<int> calls{0};
  const auto fails = [&] {
    if (++calls == 20) throw std::runtime_error("failed");
  };
  EXPECT_THROW(fold(machine, RoundedSum{fails}, kept), std::runtime_error);
  EXPECT_EQ(kept.resident_bytes(), 0u);
  std::stop_source stop;
  const auto stops = [&] { stop.request_stop(); };
  const auto partial =
      fold(machine, RoundedSum{stops}, kept, {.stop = stop.get_token(), .keep_partial = true});
  EXPECT_TRUE(partial.stats.outcome.partial);
  EXPECT_EQ(kept.resident_bytes(), 0u);
  EXPECT_EQ(fold(machine, RoundedSum{}, kept).value, expected);
  EXPECT_EQ(kept.resident_bytes(), bytes_);
  // What is there stays, whatever becomes of later passes.
  calls = 0;
  EXPECT_THROW(fold(machine, RoundedSum{fails}, kept), std::runtime_error);
  EXPECT_EQ(fold(machine, RoundedSum{}, kept).value, expected);
  EXPECT_EQ(kept.resident_bytes(), bytes_);
}

TEST_P(ResidentTest, ProgressCountsWhatIsThere) {
  Coordinator machine = coordinator();
  const Resident kept(machine, source_, {.device_bytes = bytes_ / 2});
  fold(machine, RoundedSum{}, kept);
  Progress last{};
  fold(machine, RoundedSum{}, kept, {.progress = [&](const Progress& now) { last = now; }});
  EXPECT_EQ(last.bytes, bytes_);
  EXPECT_EQ(last.total_bytes, bytes_);
}

TEST_P(ResidentTest, RefusesWhatCannotStay) {
  Coordinator machine = coordinator(), other = coordinator();
  const Resident kept(machine, source_, {.device_bytes = all_});
  test::expect_error(ErrorKind::usage, "on the device of another coordinator",
                     [&] { fold(other, RoundedSum{}, kept); });
  test::expect_error(ErrorKind::bad_input, "holds float32",
                     [&] { fold(machine, test::Count<double>{}, kept); });
  const Source empty = test::ValuesFile().source_of(std::vector<float>{});
  const Resident none(machine, empty, {.device_bytes = all_});
  EXPECT_EQ(fold(machine, RoundedSum{}, none).value, 0);
  EXPECT_EQ(none.resident_bytes(), 0u);
}

// The CPU reads the page cache as fast as it would read memory of its own.
TEST_P(ResidentTest, TakesNoMemoryOfTheCpuUnlessItIsGiven) {
  Coordinator machine = coordinator();
  const Resident kept(machine, source_);
  fold(machine, RoundedSum{}, kept);
  EXPECT_EQ(kept.resident_bytes(), GetParam() == test::Machine::cpu ? 0 : bytes_);
}

TEST_P(ResidentTest, IsWithinTheLimitOfTheDevice) {
  if (GetParam() == test::Machine::cpu) GTEST_SKIP() << "the limit is for devices";
  const std::size_t chunk = partition * sizeof(float), buffers = 2 * 2 * chunk;
  Coordinator tight = coordinator({.chunk_bytes = chunk, .streams = 2, .device_bytes = buffers});
  const float expected = fold(tight, RoundedSum{}, source_).value;
  const Resident none(tight, source_);
  const auto [sum, stats] = fold(tight, RoundedSum{}, none);
  EXPECT_EQ(sum, expected);
  EXPECT_EQ(none.resident_bytes(), 0u);
  EXPECT_EQ(std::ranges::count(stats.layout.reasons, Choice::input_not_kept, &Reason::what), 1);
}

// The first pass needs few bytes for its streams, the second one more than are left.
TEST_P(ResidentTest, IsGivenBackWhereAPassHasNoRoom) {
  if (GetParam() == test::Machine::cpu) GTEST_SKIP() << "lanes of the CPU have no buffers";
  const std::size_t chunk = partition * sizeof(float);
  test::ValuesFile file;
  const Source source = file.source_of(std::vector<float>(1'500'000, 0.25f));
  Coordinator machine = coordinator({.chunk_bytes = chunk, .streams = 2});
  map(machine, Doubled{}, source, target("doubled.f32"));
  Coordinator fresh = coordinator({.chunk_bytes = chunk, .streams = 2});
  const Resident kept(fresh, source);
  fold(fresh, RoundedSum{}, kept);
  EXPECT_EQ(kept.resident_bytes(), source.bytes());
  fresh.device().device_memory().set_limit(fresh.device().device_memory().bytes_in_use() + chunk);
  const Stats stats = map(fresh, Doubled{}, kept, target("again.f32"));
  EXPECT_EQ(made("again.f32"), made("doubled.f32"));
  EXPECT_EQ(kept.resident_bytes(), 0u);
  EXPECT_EQ(stats.outcome.resident_bytes, 0u);
  ASSERT_EQ(stats.outcome.remarks.size(), 1u);
  EXPECT_NE(stats.outcome.remarks[0].find("does not stay on the device"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Machines, ResidentTest, test::all_machines, test::machine_name);

TEST(ResidentOfAProducer, IsRefused) {
  Coordinator machine(make_device(DeviceKind::cpu));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Source source = from_descriptor(ends[0], {ElementType::f4});
  test::expect_error(ErrorKind::usage, "cannot stay on the device",
                     [&] { Resident(machine, source); });
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace ooc
