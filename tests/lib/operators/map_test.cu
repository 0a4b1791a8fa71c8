// Tests maps that a user writes with Thrust. Compiled by nvcc they run on both devices, compiled by
// g++ on the CPU.

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>
#include <ooc/execute.hpp>
#include <ooc/map.hpp>

#include <gtest/gtest.h>
#include <thrust/transform.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "support/allocations.hpp"
#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/effort.hpp"
#include "support/engines.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

constexpr std::size_t npy_header_bytes = 4096;

template <class In, class Out>
struct HalfOf {
  constexpr Out operator()(In value) const { return static_cast<Out>(value / 2); }
};

template <class In, class Out = In>
struct HalveOnDevice {
  using Input = In;
  using Output = Out;

  void transform(Stream& stream, DeviceChunk<const In> in, DeviceSpan<Out> out) const {
    execute(stream, [&](auto policy) {
      thrust::transform(policy, in.begin(), in.end(), out.begin(), HalfOf<In, Out>{});
    });
  }
};

/// Adds to each element its index in the whole, and counts the elements.
struct AddIndex {
  using Input = std::uint32_t;
  using Output = std::uint32_t;
  using Partial = std::uint64_t;

  struct Plus {
    std::uint32_t first;
    const std::uint32_t* begin;
    constexpr std::uint32_t operator()(const std::uint32_t& value) const {
      return value + first + static_cast<std::uint32_t>(&value - begin);
    }
  };

  void transform(Stream& stream, DeviceChunk<const std::uint32_t> in, DeviceSpan<std::uint32_t> out,
                 Partial& count) const {
    count += in.size;
    const Plus plus{static_cast<std::uint32_t>(in.first), in.data};
    execute(stream, [&](auto policy) {
      thrust::transform(policy, in.begin(), in.end(), out.begin(), plus);
    });
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

template <class T>
std::vector<T> random_values(std::size_t count) {
  std::mt19937 random(7);
  std::vector<T> values(count);
  std::ranges::generate(values, [&] { return static_cast<T>(random() % 256); });
  return values;
}

template <class In, class Out = In>
std::vector<Out> halves_of(const std::vector<In>& values) {
  std::vector<Out> halves(values.size());
  std::ranges::transform(values, halves.begin(), HalfOf<In, Out>{});
  return halves;
}

template <class T>
std::vector<T> swapped(std::vector<T> values) {
  for (T& value : values) {
    auto* const bytes = reinterpret_cast<unsigned char*>(&value);
    std::reverse(bytes, bytes + sizeof(T));
  }
  return values;
}

/// Returns the values in a file, without its header.
template <class T>
std::vector<T> values_in(const std::filesystem::path& path) {
  const std::string bytes = test::read_whole(path);
  const std::size_t header = path.extension() == ".npy" ? npy_header_bytes : 0;
  std::vector<T> values((bytes.size() - header) / sizeof(T));
  EXPECT_EQ(header + values.size() * sizeof(T), bytes.size());
  if (!values.empty()) std::memcpy(values.data(), bytes.data() + header, bytes.size() - header);
  return values;
}

class MapTest : public testing::TestWithParam<DeviceKind> {
 protected:
  template <class T>
  std::filesystem::path make_file(const std::vector<T>& values, const std::string& name = "in") {
    const auto path = dir_.path() / name;
    test::write_file(path, values);
    return path;
  }
  template <class T>
  Target target(const std::string& name) {
    return {.path = dir_.path() / name, .type = {element_type_of<T>()}, .replace = true};
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Devices, MapTest, test::all_devices, test::device_name);

TEST_P(MapTest, WritesWhatTheOperatorMakesOfEachElement) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB});
  for (const std::size_t count : {0u, 1u, 7u, 65'536u, 65'537u, 1'000'003u}) {
    const auto values = random_values<float>(count);
    const auto path = make_file(values, "in.f32");
    for (const char* name : {"out.f32", "out.npy"}) {
      const Target out = target<float>(name);
      const Stats stats = map(coordinator, HalveOnDevice<float>{}, open(path), out).stats;
      EXPECT_EQ(values_in<float>(out.path), halves_of(values)) << count << " in " << name;
      EXPECT_EQ(stats.outcome.bytes, count * sizeof(float));
      EXPECT_EQ(stats.outcome.bytes_written, count * sizeof(float));
      EXPECT_FALSE(stats.outcome.partial);
      EXPECT_GE(stats.timing.seconds, stats.timing.commit_seconds);
    }
  }
  EXPECT_EQ(dir_.names(), (std::vector<std::string>{"in.f32", "out.f32", "out.npy"}));
}

TEST_P(MapTest, WritesTheSameFileHoweverItRuns) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto values = random_values<float>(test::effort<std::size_t>(700'001, 300'001));
  const auto expected = halves_of(values);
  const Source source = open(make_file(values, "in.f32"));
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
    for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
      for (const std::size_t streams : {1u, 2u, 5u}) {
        for (const std::size_t chunk : {std::size_t{0}, 256 * KiB, 1 * MiB, 64 * MiB}) {
          Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = chunk,
                                                            .streams = streams,
                                                            .block_bytes = 100'000,
                                                            .engine = engine,
                                                            .direct = direct});
          const Target out = target<float>("out.npy");
          map(coordinator, HalveOnDevice<float>{}, source, out);
          EXPECT_EQ(values_in<float>(out.path), expected)
              << streams << " streams, chunks of " << chunk;
        }
      }
    }
  }
}

TEST_P(MapTest, WritesToMemory) {
  OOC_SKIP_WITHOUT(GetParam());
  const test::TempDir memory("/dev/shm");
  const auto values = random_values<float>(700'001);
  const Source source = open(make_file(values, "in.f32"));
  std::vector<EngineKind> engines = test::engines_here();
  engines.push_back(EngineKind::automatic);
  for (const EngineKind engine : engines) {
    Coordinator coordinator(make_device(GetParam()), {.engine = engine});
    Target out = target<float>("out.f32");
    out.path = memory.path() / "out.f32";
    const Stats stats = map(coordinator, HalveOnDevice<float>{}, source, out).stats;
    EXPECT_EQ(values_in<float>(out.path), halves_of(values));
    const Reason reason{ReasonKind::buffered_writes, "tmpfs has no disk under it"};
    EXPECT_EQ(std::ranges::count(stats.layout.reasons, reason), 1);
  }
}

TEST_P(MapTest, ElementsMayGrowAndShrink) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator coordinator(make_device(GetParam()), {.streams = 3});
  const auto bytes = random_values<std::uint8_t>(1'000'003);
  const Target wide = target<double>("wide.npy");
  map(coordinator, HalveOnDevice<std::uint8_t, double>{}, open(make_file(bytes, "in.u8")), wide);
  EXPECT_EQ(values_in<double>(wide.path), (halves_of<std::uint8_t, double>(bytes)));

  const auto doubles = random_values<double>(1'000'003);
  const Target narrow = target<std::uint8_t>("narrow.u8");
  map(coordinator, HalveOnDevice<double, std::uint8_t>{}, open(make_file(doubles, "in.f64")),
      narrow);
  EXPECT_EQ(values_in<std::uint8_t>(narrow.path), (halves_of<double, std::uint8_t>(doubles)));
}

TEST_P(MapTest, SwapsBytesOnBothSides) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 1, .streams = 2});
  const auto values = random_values<float>(200'003);
  const auto native = make_file(values, "native.f32");
  const auto foreign = make_file(swapped(values), "foreign.f32");
  for (const bool in_swapped : {false, true}) {
    for (const bool out_swapped : {false, true}) {
      const Source source =
          open(in_swapped ? foreign : native, {.type = DType{ElementType::f4, in_swapped}});
      Target out = target<float>("out.npy");
      out.type->swapped = out_swapped;
      map(coordinator, HalveOnDevice<float>{}, source, out);
      const auto halves = halves_of(values);
      EXPECT_EQ(values_in<float>(out.path), out_swapped ? swapped(halves) : halves);
      EXPECT_EQ(open(out.path).type(), out.type);
    }
  }
}

TEST_P(MapTest, MakesOneFileOfSeveralWithOddOffsets) {
  OOC_SKIP_WITHOUT(GetParam());
  std::vector<std::filesystem::path> paths;
  std::vector<std::uint32_t> expected;
  for (std::size_t i = 0; i < 9; ++i) {
    const auto values = random_values<std::uint32_t>(1000 + 17'777 * i);
    expected.insert(expected.end(), values.begin(), values.end());
    paths.push_back(dir_.path() / (std::to_string(i) + ".u32"));
    test::write_file(paths.back(), values, 13);
  }
  for (std::uint32_t i = 0; i < expected.size(); ++i) expected[i] += i;
  const Source source = open(paths, {.type = DType{ElementType::u4}, .offset = 13});
  for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
    Coordinator coordinator(make_device(GetParam()),
                            {.chunk_bytes = 1, .streams = 2, .direct = direct});
    const Target out = target<std::uint32_t>("out.u32");
    const auto result = map(coordinator, AddIndex{}, source, out);
    EXPECT_EQ(result.value, expected.size());
    EXPECT_EQ(values_in<std::uint32_t>(out.path), expected);
  }
}

TEST_P(MapTest, TheShapeIsWrittenAsItWasAskedFor) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator coordinator(make_device(GetParam()));
  const auto values = random_values<std::uint32_t>(60);
  Target out = target<std::uint32_t>("out.npy");
  out.shape = {3, 4, 5};
  map(coordinator, HalveOnDevice<std::uint32_t>{}, open(make_file(values, "in.u32")), out);
  const Source written = open(out.path);
  EXPECT_TRUE(std::ranges::equal(written.shape(), out.shape));
  EXPECT_EQ(values_in<std::uint32_t>(out.path), halves_of(values));
}

TEST_P(MapTest, AllocatesNothingOnceAChunkHasPassed) {
  OOC_SKIP_WITHOUT(GetParam());
  const Target out = target<float>("out.f32");
  const auto pass = [&](Coordinator& coordinator, const Source& source) {
    return map(coordinator, HalveOnDevice<float>{}, source, out).stats;
  };
  test::expect_no_allocation_per_chunk(GetParam(), pass);
}

TEST_P(MapTest, NeedsElementsOfItsTypesOnBothSides) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator coordinator(make_device(GetParam()));
  const auto path = make_file(random_values<float>(10), "in.f32");
  EXPECT_THROW(map(coordinator, HalveOnDevice<double>{}, open(path), target<double>("out")), Error);
  EXPECT_THROW(map(coordinator, HalveOnDevice<float>{}, open(path), target<double>("out")), Error);
  EXPECT_THROW(map(coordinator, HalveOnDevice<float>{}, open(path), target<std::int32_t>("out")),
               Error);
  EXPECT_EQ(dir_.names(), std::vector<std::string>{"in.f32"});
}

}  // namespace
}  // namespace ooc::detail
