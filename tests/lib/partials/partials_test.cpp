#include <ooc/detail/partials/partials.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "io/expect_error.hpp"
#include "support/data_file.hpp"
#include "support/machines.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

/// A sum that rounds: its bits depend on what is added to what. It adds on the host, in one order,
/// so it has the same bits on all devices.
struct HostRoundedSum {
  using Input = float;
  using Partial = float;
  static constexpr std::size_t partition_records = 4096;
  static constexpr bool same_bits_everywhere = true;

  void consume(Stream& stream, DeviceChunk<const float> in, float& sum) const {
    std::vector<float> host(in.size);
    stream.copy(host.data(), in.data, in.size * sizeof(float));
    stream.synchronize();
    sum = std::accumulate(host.begin(), host.end(), sum);
  }
  void merge(float& total, const float& part) const { total += part; }
};

struct HostRoundedSumInOrder : HostRoundedSum {
  static constexpr Merge merge_order = Merge::in_order;
};

/// Copies a file and adds up its values.
struct RoundedCopy : HostRoundedSum {
  using Output = float;
  void transform(Stream& stream, DeviceChunk<const float> in, DeviceSpan<float> out,
                 float& sum) const {
    consume(stream, in, sum);
    stream.copy(out.data, in.data, in.size * sizeof(float));
  }
};

/// Lists the partitions that it has consumed, and counts the partials that were made.
struct Partitions {
  using Input = std::uint8_t;
  using Partial = std::string;
  static constexpr std::size_t partition_records = 1024;
  std::atomic<int>* made;

  std::string make_partial(Stream&) const {
    ++*made;
    return {};
  }
  void reset(Stream&, std::string& partial) const { partial.clear(); }
  void consume(Stream&, DeviceChunk<const std::uint8_t> in, std::string& partial) const {
    EXPECT_EQ(in.first % 1024, 0u);
    EXPECT_LE(in.size, 1024u);
    partial += std::to_string(in.first / 1024) + ",";
  }
  void merge(std::string& total, const std::string& part) const { total += part; }
};

struct PartitionsInOrder : Partitions {
  static constexpr Merge merge_order = Merge::in_order;
};

/// Fails in the middle, while other lanes wait for their turn to merge.
struct FailsInOrder : PartitionsInOrder {
  void consume(Stream& stream, DeviceChunk<const std::uint8_t> in, std::string& partial) const {
    if (in.first == 20 * 1024) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      throw std::runtime_error("failed as it should");
    }
    PartitionsInOrder::consume(stream, in, partial);
  }
};

/// Counts the bytes. Its partials have a mebibyte of device memory each.
struct Large {
  using Input = std::uint8_t;
  struct Partial {
    Buffer memory{};
    std::uint64_t bytes = 0;
  };
  static constexpr std::size_t partition_records = 1024;

  Partial make_partial(Stream& stream) const { return {Buffer(stream.temporaries(), 1 << 20)}; }
  void consume(Stream&, DeviceChunk<const std::uint8_t> in, Partial& partial) const {
    partial.bytes += in.size;
  }
  void merge(Partial& total, const Partial& part) const { total.bytes += part.bytes; }
  std::uint64_t result(const Partial& total) const { return total.bytes; }
};

struct LargeAndReset : Large {
  void reset(Stream&, Partial& partial) const { partial.bytes = 0; }
};

struct LargeUnordered : Large {
  static constexpr Merge merge_order = Merge::unordered;
};

class PartialsTest : public testing::Test {
 protected:
  static std::vector<float> random_values(std::size_t count) {
    std::mt19937 random(3);
    std::lognormal_distribution<float> values(0, 4);
    std::vector<float> made(count);
    for (float& value : made) value = values(random);
    return made;
  }

  test::TempDir dir_;
};

class RoundedSumTest : public PartialsTest, public testing::WithParamInterface<test::Machine> {
 protected:
  void SetUp() override {
    OOC_SKIP_WITHOUT_MACHINE(GetParam());
    test::write_file(path_, values_);
  }

  static std::unique_ptr<Device> device() { return test::make_device(GetParam()); }

  static std::uint32_t bits(float sum) { return std::bit_cast<std::uint32_t>(sum); }

  /// Returns the sums of all three operators.
  std::array<std::uint32_t, 3> sums(const Options& options) {
    Coordinator coordinator(device(), options);
    const Target target{
        .path = dir_.path() / "copy.f32", .type = {ElementType::f4}, .replace = true};
    const Source source = open_bytes(path_);
    return {bits(fold(coordinator, HostRoundedSum{}, source).value),
            bits(fold(coordinator, HostRoundedSumInOrder{}, source).value),
            bits(map(coordinator, RoundedCopy{}, source, target).value)};
  }

  /// Returns the same by plain loops.
  std::array<std::uint32_t, 3> expected() const {
    const std::span values(values_);
    std::vector<float> level;
    for (std::size_t i = 0; i < values.size(); i += 4096) {
      const auto part = values.subspan(i, std::min<std::size_t>(4096, values.size() - i));
      level.push_back(std::accumulate(part.begin(), part.end(), 0.0f));
    }
    const float in_order = std::accumulate(level.begin(), level.end(), 0.0f);
    for (; level.size() > 1; level.resize((level.size() + 1) / 2)) {
      for (std::size_t i = 0; i < level.size(); i += 2) {
        level[i / 2] = i + 1 < level.size() ? level[i] + level[i + 1] : level[i];
      }
    }
    return {bits(level[0]), bits(in_order), bits(level[0])};
  }

  std::vector<float> values_ = random_values(1'000'003);
  std::filesystem::path path_ = dir_.path() / "values.f32";
};

INSTANTIATE_TEST_SUITE_P(Machines, RoundedSumTest, test::all_machines, test::machine_name);

TEST_P(RoundedSumTest, IsTheSameWhateverTheWay) {
  const auto expected = this->expected();
  EXPECT_NE(expected[0], expected[1]) << "the order of merging should matter here";
  for (const std::size_t chunk : {1024, 12 * 4096, 1 << 20, 16 << 20}) {
    for (const std::size_t streams : {1, 2, 3, 16}) {
      for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
        for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
          const Options options{
              .chunk_bytes = chunk, .streams = streams, .engine = engine, .direct = direct};
          EXPECT_EQ(sums(options), expected) << "chunk " << chunk << ", streams " << streams;
        }
      }
    }
  }
  for (const std::size_t memory : {512 * 1024, 3 << 20, 32 << 20}) {
    EXPECT_EQ(sums({.streams = 2, .memory_bytes = memory}), expected) << "memory " << memory;
  }
}

TEST_P(RoundedSumTest, IsTheSameColdAndHalfCached) {
  const auto expected = this->expected();
  for (const std::size_t cached : {4096, 1 << 20, 2 << 20}) {
    const test::HeldInPageCache held(path_, cached);
    test::evict(path_, cached);
    EXPECT_EQ(sums({.streams = 3}), expected) << "cached " << cached;
  }
}

struct CoarseSum : HostRoundedSum {
  static constexpr std::size_t partition_records = 65536;
};

TEST_F(PartialsTest, OfSeveralOperatorsAreThoseOfEachAlone) {
  const auto path = dir_.path() / "values.f32";
  test::write_file(path, random_values(1'000'003));
  const Source source = open_bytes(path);
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = 4 * 4096, .streams = 3});
  const float coarse = fold(coordinator, CoarseSum{}, source).value;
  const float fine = fold(coordinator, HostRoundedSum{}, source).value;
  EXPECT_NE(coarse, fine);
  EXPECT_EQ(fold(coordinator, std::tuple{CoarseSum{}, HostRoundedSum{}}, source).value,
            (std::tuple{coarse, fine}));
  EXPECT_EQ(fold(coordinator, std::tuple{HostRoundedSum{}, CoarseSum{}}, source).value,
            (std::tuple{fine, coarse}));
}

TEST_F(PartialsTest, AreMergedByPlaceAndUsedAgain) {
  constexpr std::size_t count = 1000;
  const auto path = dir_.path() / "bytes.u8";
  test::write_file(path, std::vector<std::uint8_t>(count * 1024 - 5));
  const Source source = open_bytes(path);
  std::string expected;
  for (std::size_t i = 0; i < count; ++i) expected += std::to_string(i) + ",";
  for (const std::size_t streams : {1, 3, 7}) {
    Coordinator coordinator(make_device(DeviceKind::cpu),
                            {.chunk_bytes = 2048, .streams = streams});
    std::atomic<int> made{0};
    EXPECT_EQ(fold(coordinator, Partitions{&made}, source).value, expected);
    EXPECT_LT(made, 100) << "far fewer than partitions";
    made = 0;
    EXPECT_EQ(fold(coordinator, PartitionsInOrder{{&made}}, source).value, expected);
    EXPECT_LT(made, 100);
  }
}

TEST_F(PartialsTest, OfNoDataAreNeutral) {
  const auto path = dir_.path() / "nothing.f32";
  test::write_file(path, std::vector<float>{});
  Coordinator coordinator(make_device(DeviceKind::cpu));
  EXPECT_EQ(fold(coordinator, HostRoundedSum{}, open(path)).value, 0.0f);
  EXPECT_EQ(fold(coordinator, HostRoundedSumInOrder{}, open(path)).value, 0.0f);
}

TEST_F(PartialsTest, LanesThatWaitForTheirTurnEndWithThePass) {
  const auto path = dir_.path() / "bytes.u8";
  test::write_file(path, std::vector<std::uint8_t>(200 * 1024));
  std::atomic<int> made{0};
  for (int round = 0; round < 20; ++round) {
    Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = 1024, .streams = 4});
    const FailsInOrder failing{{{&made}}};
    EXPECT_THROW(fold(coordinator, failing, open_bytes(path)), std::runtime_error);
  }
}

/// Fails in some merges.
struct LargeThatFails : Large {
  void merge(Partial& total, const Partial& part) const {
    Large::merge(total, part);
    if (total.bytes > 20'000) throw std::runtime_error("failed as it should");
  }
};

// ThreadSanitizer finds partials whose memory another lane frees.
TEST_F(PartialsTest, OfAMergeThatFailsAreFreedByTheirLanes) {
  const auto path = dir_.write("data.bin", std::vector<std::byte>(64 * 1024));
  for (int round = 0; round < 20; ++round) {
    Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = 4 * 1024, .streams = 3});
    EXPECT_THROW(fold(coordinator, LargeThatFails{}, open_bytes(path)), std::runtime_error);
  }
}

// A step has four partitions here, and the tree of 64 partitions some more.
TEST_F(PartialsTest, ThatFindNoMemoryEndThePassWithAdvice) {
  const auto path = dir_.write("data.bin", std::vector<std::byte>(64 * 1024));
  const auto count = [&](const auto& op, std::size_t device_bytes) {
    Coordinator coordinator(make_device(DeviceKind::cpu),
                            {.chunk_bytes = 4 * 1024, .streams = 3, .device_bytes = device_bytes});
    return fold(coordinator, op, open_bytes(path)).value;
  };
  EXPECT_EQ(count(Large{}, 128 << 20), 64u * 1024);
  EXPECT_EQ(count(LargeAndReset{}, 128 << 20), 64u * 1024);
  const auto expect_advice = [&](const auto& op) {
    try {
      count(op, 3 << 20);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory);
      EXPECT_NE(std::string(error.what()).find("partial results"), std::string::npos);
      EXPECT_NE(error.details().hint.find("Merge::unordered"), std::string::npos);
    }
  };
  expect_advice(Large{});
  expect_advice(LargeAndReset{});
  EXPECT_EQ(count(LargeUnordered{}, 3 << 20), 64u * 1024);
}

template <class Element>
struct Plain {
  using Input = Element;
  using Partial = int;
};

struct PlainEverywhere : Plain<float> {
  static constexpr bool same_bits_everywhere = true;
};

struct PlainUnordered : Plain<float> {
  static constexpr Merge merge_order = Merge::unordered;
};

TEST(Partitions, HaveASizeThatDependsOnTheOperatorAlone) {
  EXPECT_EQ(partition_of<Plain<float>>(facts_of(DeviceKind::cpu), 4), 262'144u);  // 1 MiB
  EXPECT_EQ(partition_of<Plain<float>>(facts_of(DeviceKind::cuda), 4), 2'097'152u);
  EXPECT_EQ(partition_of<Plain<char[3]>>(facts_of(DeviceKind::cpu), 3), 262'144u);
  EXPECT_EQ(partition_of<Plain<char[100 << 20]>>(facts_of(DeviceKind::cpu), 100 << 20), 1u);
  EXPECT_EQ(partition_of<PlainEverywhere>(facts_of(DeviceKind::cuda), 4), 262'144u);
  EXPECT_EQ(partition_of<PlainUnordered>(facts_of(DeviceKind::cuda), 4), 65'536u);
  EXPECT_EQ(partition_of<HostRoundedSum>(facts_of(DeviceKind::cuda), 4), 4096u);
  // Rows of 300 float: the largest power of two of them in 8 MiB.
  EXPECT_EQ(partition_of<Plain<Row<float>>>(facts_of(DeviceKind::cuda), 1200), 4096u);
}

}  // namespace
}  // namespace ooc::detail
