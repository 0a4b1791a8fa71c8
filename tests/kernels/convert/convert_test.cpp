#include <ooc/convert.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/reduce.hpp>

#include "convert/values.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/all_types.hpp"
#include "support/devices.hpp"
#include "support/npy_header.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

constexpr std::size_t several_tiles = 3 * tile_elements + 1234;  // the last tile is not full

using Bytes = std::vector<std::byte>;

Bytes random_elements(ElementType type, std::size_t count) {
  return test::random_bytes(count * size_of(type), 11);
}

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

Bytes swapped(Bytes bytes, ElementType type) {
  const auto element_bytes = static_cast<std::ptrdiff_t>(size_of(type));
  for (auto at = bytes.begin(); at != bytes.end(); at += element_bytes) {
    std::reverse(at, at + element_bytes);
  }
  return bytes;
}

/// The contents of a file after its header.
Bytes data_in(const std::filesystem::path& path) {
  const std::string text = test::read_whole(path);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin() + (path.extension() == ".npy" ? test::npy_header_bytes : 0), bytes.end()};
}

/// The expected elements, by loops that values_test.cpp has verified.
struct Expected {
  Expected(const Bytes& in, ElementType from, ElementType to)
      : count(in.size() / size_of(from)), data(count * size_of(to)) {
    inexact = conversion::convert_values_cpu(from, to, in.data(), data.data(), count,
                                             conversion::Beyond::convert, Simd::sse2)
                  .all();
  }

  std::uint64_t count;
  Bytes data;
  std::uint64_t inexact;
};

class ConvertTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Coordinator coordinator(Options options = {}) const {
    return Coordinator(make_device(GetParam()), std::move(options));
  }

  Source raw(const Bytes& bytes, DType type) const {
    return open(dir_.write("in.raw", bytes), {.type = type});
  }

  Source npy(const Bytes& bytes, DType type, const std::vector<std::uint64_t>& shape) const {
    Bytes file = npy_header(type, shape);
    file.insert(file.end(), bytes.begin(), bytes.end());
    return open(dir_.write("in.npy", file));
  }

  Target target(const std::string& name, DType type) const {
    return {.path = dir_.path() / name, .type = type, .replace = true};
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Devices, ConvertTest, test::all_devices, test::device_name);

TEST_P(ConvertTest, EveryTypeBecomesEveryOther) {
  Coordinator several = coordinator({.chunk_bytes = 1, .streams = 2});
  for (const ElementType from : test::all_types) {
    const Bytes values = random_elements(from, several_tiles);
    const Source source = raw(values, {from});
    for (const ElementType to : test::all_types) {
      SCOPED_TRACE(std::string(name_of(from)) + " to " + std::string(name_of(to)));
      const Target out = target("out.raw", {to});
      const auto [conversion, stats] = convert(several, source, out);
      const Expected expected(values, from, to);
      EXPECT_TRUE(data_in(out.path) == expected.data);
      EXPECT_EQ(conversion.count, expected.count);
      EXPECT_EQ(conversion.inexact, expected.inexact);
      EXPECT_EQ(stats.outcome.bytes, values.size());
      EXPECT_EQ(stats.outcome.bytes_written, expected.data.size());
    }
  }
}

TEST_P(ConvertTest, SwapsBytesOnBothSides) {
  using enum ElementType;
  Coordinator several = coordinator({.chunk_bytes = 1, .streams = 2});
  for (const auto& [from, to] :
       {std::pair{f4, f4}, {u1, i8}, {i8, i1}, {f2, f8}, {f8, bf16}, {i4, u2}}) {
    const Bytes values = random_elements(from, several_tiles);
    const Expected expected(values, from, to);
    for (const bool in_swapped : {false, true}) {
      const Source source = raw(in_swapped ? swapped(values, from) : values, {from, in_swapped});
      for (const bool out_swapped : {false, true}) {
        SCOPED_TRACE(code_of({from, in_swapped}) + " to " + code_of({to, out_swapped}));
        const Target out = target("out.raw", {to, out_swapped});
        EXPECT_EQ(convert(several, source, out).value.inexact, expected.inexact);
        EXPECT_TRUE(data_in(out.path) ==
                    (out_swapped ? swapped(expected.data, to) : expected.data));
      }
    }
  }
}

TEST_P(ConvertTest, TheBytesDoNotDependOnHowItRuns) {
  const Bytes values = random_elements(ElementType::f8, 500'001);
  const Expected expected(values, ElementType::f8, ElementType::f2);
  const Source source = raw(values, {ElementType::f8});
  const Target out = target("out.npy", {ElementType::f2});
  for (const std::size_t streams : {1u, 2u, 5u}) {
    for (const std::size_t chunk : {std::size_t{0}, 512 * KiB, 1 * MiB, 64 * MiB}) {
      for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
        SCOPED_TRACE(std::to_string(streams) + " streams, chunks of " + std::to_string(chunk));
        Coordinator any = coordinator(
            {.chunk_bytes = chunk, .streams = streams, .block_bytes = 100'000, .engine = engine});
        EXPECT_EQ(convert(any, source, out).value.inexact, expected.inexact);
        EXPECT_TRUE(data_in(out.path) == expected.data);
      }
    }
  }
}

TEST_P(ConvertTest, CountsWhatIsNotItsValueAfterwards) {
  std::vector<float> values(several_tiles);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 100) + (i % 7 == 3 ? 0.5f : 0.0f);
  }
  const Source source = raw(bytes_of(values), {ElementType::f4});
  Coordinator several = coordinator({.chunk_bytes = 1, .streams = 3});
  // twice, since the second pass must not add to the count of the first
  for (int pass = 0; pass < 2; ++pass) {
    const Conversion conversion =
        convert(several, source, target("out.raw", {ElementType::u1})).value;
    EXPECT_EQ(conversion.count, values.size());
    EXPECT_EQ(conversion.inexact, (values.size() + 3) / 7);
  }
  EXPECT_EQ(convert(several, source, target("out.raw", {ElementType::f2})).value.inexact, 0u);
}

TEST_P(ConvertTest, KeepsTheShapeUnlessThereIsAnother) {
  const Bytes values = random_elements(ElementType::i2, 60);
  const Expected expected(values, ElementType::i2, ElementType::f4);
  const std::vector<std::uint64_t> shape{3, 4, 5};
  const Source source = npy(values, {ElementType::i2}, shape);
  Coordinator any = coordinator();

  Target out = target("out.npy", {ElementType::f4, true});
  convert(any, source, out);
  EXPECT_TRUE(std::ranges::equal(open(out.path).shape(), shape));
  EXPECT_EQ(open(out.path).type(), out.type);
  EXPECT_TRUE(data_in(out.path) == swapped(expected.data, ElementType::f4));

  out.shape = {6, 10};
  convert(any, source, out);
  EXPECT_TRUE(std::ranges::equal(open(out.path).shape(), out.shape));

  out = target("out.f32", {ElementType::f4});  // a raw file has no shape
  convert(any, source, out);
  EXPECT_TRUE(data_in(out.path) == expected.data);
  out = target("again.npy", {ElementType::f4});
  convert(any, open(dir_.path() / "out.f32"), out);
  EXPECT_TRUE(std::ranges::equal(open(out.path).shape(), std::vector<std::uint64_t>{60}));
  EXPECT_TRUE(data_in(out.path) == expected.data);
}

TEST_P(ConvertTest, MakesOneFileOfSeveral) {
  Bytes values;
  std::vector<std::filesystem::path> paths;
  for (std::size_t i = 0; i < 5; ++i) {
    const Bytes part = test::random_bytes(4 * (1001 + 33'333 * i), static_cast<unsigned>(i));
    values.insert(values.end(), part.begin(), part.end());
    Bytes file(13);
    file.insert(file.end(), part.begin(), part.end());
    paths.push_back(dir_.write(std::to_string(i) + ".f32", file));
  }
  const Source source = open(paths, {.offset = 13});
  Coordinator several = coordinator({.chunk_bytes = 1, .streams = 2});
  for (const ElementType to : {ElementType::f2, ElementType::f8}) {
    const Expected expected(values, ElementType::f4, to);
    const Target out = target("out.npy", {to});
    const Conversion conversion = convert(several, source, out).value;
    EXPECT_EQ(conversion.count, expected.count);
    EXPECT_EQ(conversion.inexact, expected.inexact);
    EXPECT_TRUE(data_in(out.path) == expected.data);
  }
}

TEST_P(ConvertTest, ThePlanIsWhatIsDone) {
  const Source source = raw(random_elements(ElementType::f4, several_tiles), {ElementType::f4});
  for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
    for (const char* name : {"out.npy", "out.raw"}) {
      const Options options{.chunk_bytes = 1, .direct = direct};
      const Target to = target(name, {ElementType::f8});
      std::filesystem::remove(to.path);
      const Stats plan = dry_run_convert(options, GetParam(), source, to);
      EXPECT_FALSE(std::filesystem::exists(to.path));
      Coordinator coordinator(make_device(GetParam()), options);
      const Stats done = convert(coordinator, source, to).stats;
      EXPECT_EQ(plan.outcome.bytes, done.outcome.bytes);
      EXPECT_EQ(plan.outcome.bytes_written, done.outcome.bytes_written);
      EXPECT_EQ(plan.layout.chunk_bytes, done.layout.chunk_bytes);
      EXPECT_EQ(plan.layout.chunks, done.layout.chunks);
      EXPECT_EQ(plan.layout.pool_bytes, done.layout.pool_bytes);
      EXPECT_EQ(plan.layout.engine, done.layout.engine);
      EXPECT_EQ(plan.layout.direct, done.layout.direct);
      EXPECT_EQ(plan.layout.reasons, done.layout.reasons);
      EXPECT_LE(plan.layout.device_bytes, done.layout.device_bytes);
      EXPECT_EQ(plan.layout.device_bytes == 0, done.layout.device_bytes == 0);
    }
  }
}

TEST_P(ConvertTest, ASourceWithoutATypeIsBytes) {
  const Bytes values = random_elements(ElementType::u1, 1001);
  const Source source = open_bytes(dir_.write("in.raw", values));
  Coordinator any = coordinator();
  const Target out = target("out.raw", {ElementType::u4});
  EXPECT_EQ(convert(any, source, out).value.count, 1001u);
  EXPECT_TRUE(data_in(out.path) == Expected(values, ElementType::u1, ElementType::u4).data);
}

TEST_P(ConvertTest, StructsAreRefused) {
  const std::filesystem::path path = dir_.write("in.raw", Bytes(120));
  const Source structs = open(path, {.type = parse_dtype("{x:f4,y:f8}")});
  const Source numbers = open(path, {.type = DType{ElementType::f4}});
  const Target out = target("out.raw", {ElementType::u4});
  const Target to_structs = target("out.raw", parse_dtype("{x:f4}"));
  Coordinator any = coordinator();
  test::expect_error(ErrorKind::bad_input, "holds structs", [&] { convert(any, structs, out); });
  test::expect_error(ErrorKind::bad_input, "holds structs",
                     [&] { dry_run_convert({}, DeviceKind::cpu, structs, out); });
  test::expect_error(ErrorKind::usage, "is to hold structs",
                     [&] { convert(any, numbers, to_structs); });
  test::expect_error(ErrorKind::usage, "is to hold structs",
                     [&] { dry_run_convert({}, DeviceKind::cpu, numbers, to_structs); });
}

TEST_P(ConvertTest, NothingBecomesNothing) {
  const Source source = raw({}, {ElementType::f8});
  Coordinator any = coordinator();
  for (const char* name : {"out.raw", "out.npy"}) {
    const Target out = target(name, {ElementType::i2});
    const Conversion conversion = convert(any, source, out, {.strict = true}).value;
    EXPECT_EQ(conversion.count, 0u);
    EXPECT_EQ(conversion.inexact, 0u);
    EXPECT_TRUE(data_in(out.path).empty());
  }
  EXPECT_TRUE(
      std::ranges::equal(open(dir_.path() / "out.npy").shape(), std::vector<std::uint64_t>{0}));
}

TEST_P(ConvertTest, StrictWritesNothingIfAValueWouldChange) {
  Coordinator several = coordinator({.chunk_bytes = 1, .streams = 2});
  std::vector<std::int32_t> values(several_tiles, -128);
  const Target out = target("out.raw", {ElementType::i1});
  for (const auto& [changing, message] : {std::pair{std::size_t{1}, "1 value would change as int8"},
                                          {3, "3 values would change as int8"}}) {
    for (std::size_t i = 0; i < changing; ++i) values[values.size() - 1 - tile_elements * i] = 128;
    const Source source = raw(bytes_of(values), {ElementType::i4});
    dir_.write("out.raw", "old");
    try {
      convert(several, source, out, {.strict = true});
      FAIL() << "no error: " << message;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_input);
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
      EXPECT_EQ(error.details().path, out.path);
    }
    EXPECT_EQ(test::read_whole(out.path), "old");
    EXPECT_EQ(dir_.names(), (std::vector<std::string>{"in.raw", "out.raw"}));
    EXPECT_EQ(convert(several, source, out).value.inexact, changing);
  }
}

TEST_P(ConvertTest, StrictWritesWhatKeepsItsValues) {
  Coordinator several = coordinator({.chunk_bytes = 1, .streams = 2});
  const Bytes values = random_elements(ElementType::i4, several_tiles);
  const Target out = target("out.raw", {ElementType::f8});
  EXPECT_EQ(convert(several, raw(values, {ElementType::i4}), out, {.strict = true}).value.inexact,
            0u);
  EXPECT_TRUE(data_in(out.path) == Expected(values, ElementType::i4, ElementType::f8).data);
}

}  // namespace
}  // namespace ooc::detail
