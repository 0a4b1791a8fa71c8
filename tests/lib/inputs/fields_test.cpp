// Tests operators that read and make structs, from files with other orders, places, byte orders and
// fields.

#include <ooc/filter.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/records.hpp>
#include <ooc/scan.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "lib/inputs/fields_fixture.hpp"

namespace ooc::detail {
namespace {

using test::Found;
using test::layouts;
using test::on_host;
using test::Particle;
using test::particle;
using test::Same;
using test::struct_count;
using test::to_device;
using test::Weighed;

/// Keeps the structs of one kind.
struct OfKind {
  using Input = Weighed;
  using Output = Weighed;
  std::int16_t kind;
  void select(Stream& stream, DeviceSpan<const Weighed> in, DeviceSpan<Weighed> out,
              std::uint64_t* kept) const {
    std::vector<Weighed> found = on_host(stream, in);
    std::erase_if(found, [&](const Weighed& each) { return each.sort != kind; });
    to_device<Weighed>(stream, out.data, found);
    to_device(stream, kept, std::uint64_t{found.size()});
  }
};

/// The number of all structs before of kind 1.
struct CountBefore {
  using Input = Weighed;
  using Output = std::uint32_t;
  using Carry = std::uint32_t;
  void begin(Stream& stream, DeviceSpan<const Weighed> in, DeviceSpan<std::uint32_t> out,
             Carry* own) const {
    Carry number = 0;
    std::vector<std::uint32_t> counts;
    for (const Weighed& each : on_host(stream, in)) {
      counts.push_back(number);
      number += each.sort == 1;
    }
    to_device<std::uint32_t>(stream, out.data, counts);
    to_device(stream, own, number);
  }
  void join(Stream& stream, const Carry* before, const Carry* own, Carry* after) const {
    const Carry sum = on_host(stream, DeviceSpan<const Carry>{before, 1}).front() +
                      on_host(stream, DeviceSpan<const Carry>{own, 1}).front();
    to_device(stream, after, sum);
  }
  void finish(Stream& stream, DeviceSpan<std::uint32_t> out, const Carry* before) const {
    std::vector<std::uint32_t> counts = on_host(stream, out);
    const Carry add = on_host(stream, DeviceSpan<const Carry>{before, 1}).front();
    for (std::uint32_t& number : counts) number += add;
    to_device<std::uint32_t>(stream, out.data, counts);
  }
};

/// A fold of structs and numbers, side by side.
struct Beside {
  using Input = std::tuple<Weighed, float, Particle>;
  using Partial = Found;
  void consume(Stream& stream, DeviceChunk<const Weighed> left, DeviceSpan<const float> middle,
               DeviceSpan<const Particle> right, Found& found) const {
    const auto weighed = on_host<const Weighed>(stream, left);
    const auto numbers = on_host(stream, middle);
    const auto particles = on_host(stream, right);
    for (std::size_t i = 0; i < weighed.size(); ++i) {
      const Particle expected = particle(left.first + i);
      const bool fits = is_same(weighed[i], expected) && numbers[i] == expected.x &&
                        is_same(particles[i], expected);
      ++(fits ? found.right : found.wrong);
    }
  }
  void merge(Found& total, const Found& part) const { total += part; }
};

using FieldsTest = test::FieldsFixture;

INSTANTIATE_TEST_SUITE_P(All, FieldsTest, testing::Values("cpu", "cuda", "late", "late_host"),
                         [](const auto& device) { return std::string(device.param); });

TEST_P(FieldsTest, AreFoundByTheirNames) {
  for (const std::string& layout : layouts) {
    SCOPED_TRACE(layout);
    const Source source = open(write("in.npy", parse_dtype(layout)));
    EXPECT_EQ(compare<Particle>(source), (Found{struct_count, 0}));
    EXPECT_EQ(compare<Weighed>(source), (Found{struct_count, 0}));
  }
}

TEST_P(FieldsTest, OfRawFilesAreThoseOfTheFormat) {
  const DType type = parse_dtype(layouts[4]);
  std::vector<std::byte> bytes(5);  // so that nothing is aligned
  const std::vector<std::byte> data = data_of(type);
  bytes.insert(bytes.end(), data.begin(), data.end());
  const auto path = dir_.write("in.bin", bytes);
  const Source source = open(path, {.type = type, .offset = 5});
  EXPECT_EQ(compare<Particle>(source), (Found{struct_count, 0}));
  const Source same = open(dir_.write("same.bin", data_of(type_of<Particle>())),
                           {.type = type_of<Particle>(), .count = 1000});
  EXPECT_EQ(compare<Particle>(same), (Found{1000, 0}));
}

TEST_P(FieldsTest, HaveNeighbours) {
  for (const std::string& layout : {layouts[0], layouts[4]}) {
    const Source source = open(write("in.npy", parse_dtype(layout)));
    EXPECT_EQ(compare<Weighed>(source, 3), (Found{struct_count, 0})) << layout;
  }
}

TEST_P(FieldsTest, AreReadBesideOtherInputs) {
  std::vector<float> numbers;
  for (std::uint64_t i = 0; i < struct_count; ++i) numbers.push_back(particle(i).x);
  const Source left = open(write("left.npy", parse_dtype(layouts[2])));
  const Source middle = open(dir_.write("x.f32", std::as_bytes(std::span(numbers))));
  const Source right = open(write("right.npy", parse_dtype(layouts[3])));
  EXPECT_EQ(fold(*coordinator_, Beside{}, zip(left, middle, right)).value,
            (Found{struct_count, 0}));
}

TEST_P(FieldsTest, ComeFromAProducer) {
  const DType type = parse_dtype(layouts[4]);
  const auto path = dir_.write("in.bin", data_of(type));
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  EXPECT_EQ(compare<Particle>(from_descriptor(descriptor, type)), (Found{struct_count, 0}));
  ::close(descriptor);
}

TEST_P(FieldsTest, AreWrittenByMaps) {
  for (const std::string& layout : layouts) {
    SCOPED_TRACE(layout);
    const Source source = open(write("in.npy", parse_dtype(layout)));
    Target out = target("out.npy", type_of<Particle>());
    out.replace = true;
    map(*coordinator_, Same{}, source, out);
    const Source made = open(out.path);
    EXPECT_EQ(made.type(), type_of<Particle>());
    EXPECT_EQ(code_of(*made.type()), "{x:<f4,kind:<i2,:V2,mass:<f8,cell:<u2[3],:V2}");
    EXPECT_EQ(compare<Particle>(made), (Found{struct_count, 0}));
  }
}

TEST_P(FieldsTest, AreWrittenByFilters) {
  const Source source = open(write("in.npy", parse_dtype(layouts[4])));
  const Target out = target("out.npy", type_of<Weighed>());
  const auto [selection, stats] = filter(*coordinator_, OfKind{-3}, source, out);
  EXPECT_EQ(selection.seen, struct_count);
  EXPECT_EQ(selection.kept, struct_count / 50);
  const Source made = open(out.path);
  EXPECT_EQ(made.shape().front(), struct_count / 50);
  const std::string bytes = test::read_whole(out.path);
  for (std::size_t i = 0; i < selection.kept; ++i) {
    Weighed one;
    std::memcpy(&one, bytes.data() + 4096 + i * sizeof(one), sizeof(one));
    ASSERT_TRUE(is_same(one, particle(50 * i + 7))) << i;
  }
}

TEST_P(FieldsTest, AreScanned) {
  const Source source = open(write("in.npy", parse_dtype(layouts[1])));
  const Target out = target("out.u32", {ElementType::u4});
  scan(*coordinator_, CountBefore{}, source, out);
  const std::string bytes = test::read_whole(out.path);
  ASSERT_EQ(bytes.size(), struct_count * 4);
  for (std::uint64_t i = 0; i < struct_count; ++i) {
    std::uint32_t found;
    std::memcpy(&found, bytes.data() + i * 4, 4);
    ASSERT_EQ(found, (i + 48) / 50) << i;
  }
}

TEST_P(FieldsTest, OfAnEmptyFileAreNone) {
  const Source source = open(write("in.npy", parse_dtype(layouts[3]), 0));
  EXPECT_EQ(compare<Particle>(source), Found{});
}

}  // namespace
}  // namespace ooc::detail
