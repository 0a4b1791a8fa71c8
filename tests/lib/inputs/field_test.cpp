// Tests fields of structs that are read as elements.

#include <ooc/chunks.hpp>
#include <ooc/collect.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/records.hpp>
#include <ooc/resident.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "lib/inputs/fields_fixture.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::layouts;
using test::on_host;
using test::particle;
using test::struct_count;
using test::to_device;

/// Compares masses, and their neighbours, with those that belong at their places.
struct CompareMasses {
  using Input = double;
  using Partial = test::Found;
  static constexpr std::size_t partition_records = 4096;
  static constexpr std::string_view partial_name = "test.compare_masses/1";

  std::size_t neighbours = 0;
  std::size_t before() const { return neighbours; }
  std::size_t after() const { return neighbours; }

  void consume(Stream& stream, DeviceWindow<const double> in, test::Found& found) const {
    const DeviceSpan<const double> all{in.data - in.before, in.before + in.size + in.after};
    const std::vector<double> host = on_host(stream, all);
    for (std::size_t i = 0; i < host.size(); ++i) {
      const bool right = host[i] == particle(in.first + i - in.before).mass;
      if (!right || (i >= in.before && i < in.before + in.size))
        ++(right ? found.right : found.wrong);
    }
  }
  void merge(test::Found& total, const test::Found& part) const { total += part; }
};

/// Compares rows of three.
struct CompareRows {
  using Input = Row<std::int16_t>;
  using Partial = test::Found;
  void consume(Stream& stream, DeviceRows<const std::int16_t> in, test::Found& found) const {
    const auto host = on_host<const std::int16_t>(stream, in);
    for (std::size_t i = 0; i < host.size(); ++i) {
      ++(host[i] == particle(in.first * in.columns + i).kind ? found.right : found.wrong);
    }
  }
  void merge(test::Found& total, const test::Found& part) const { total += part; }
};

/// Compares two fields of one file.
struct CompareTwo {
  using Input = std::tuple<double, float>;
  using Partial = test::Found;
  void consume(Stream& stream, DeviceChunk<const double> masses, DeviceSpan<const float> places,
               test::Found& found) const {
    const auto left = on_host<const double>(stream, masses);
    const auto right = on_host(stream, places);
    for (std::size_t i = 0; i < left.size(); ++i) {
      const auto expected = particle(masses.first + i);
      ++(left[i] == expected.mass && right[i] == expected.x ? found.right : found.wrong);
    }
  }
  void merge(test::Found& total, const test::Found& part) const { total += part; }
};

struct Halved {
  using Input = double;
  using Output = float;
  void transform(Stream& stream, DeviceSpan<const double> in, DeviceSpan<float> out) const {
    std::vector<float> made;
    for (const double mass : on_host(stream, in)) made.push_back(static_cast<float>(mass / 2));
    to_device<float>(stream, out.data, made);
  }
};

struct CountBytes {
  using Input = std::byte;
  using Partial = std::uint64_t;
  void consume(Stream&, DeviceChunk<const std::byte> in, Partial& total) const { total += in.size; }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

class FieldTest : public test::FieldsFixture {
 protected:
  Source structs(const std::string& layout) const {
    return open(write("in.npy", parse_dtype(layout)));
  }
  test::Found compare_masses(const Source& source, std::size_t neighbours = 0) {
    return fold(*coordinator_, CompareMasses{neighbours}, source).value;
  }
};

INSTANTIATE_TEST_SUITE_P(All, FieldTest, testing::Values("cpu", "cuda", "late", "late_host"),
                         [](const auto& device) { return std::string(device.param); });

TEST_P(FieldTest, IsASourceOfElements) {
  for (const std::string& layout : layouts) {
    SCOPED_TRACE(layout);
    const Source source = field(structs(layout), "mass");
    EXPECT_EQ(source.element(), ElementType::f8);
    EXPECT_EQ(source.elements(), struct_count);
    EXPECT_EQ(source.element_bytes(), size_of(parse_dtype(layout)));
    EXPECT_EQ(source.bytes(), struct_count * source.element_bytes());
    EXPECT_EQ(source.shape().front(), struct_count);
    EXPECT_EQ(compare_masses(source), (test::Found{struct_count, 0}));
    EXPECT_EQ(compare_masses(source, 3), (test::Found{struct_count, 0}));
  }
}

TEST_P(FieldTest, OfOneAloneIsStoredAsElementsAre) {
  std::vector<double> masses;
  for (std::uint64_t i = 0; i < struct_count; ++i) masses.push_back(particle(i).mass);
  const auto path = dir_.write("in.bin", std::as_bytes(std::span(masses)));
  const Source source = field(open(path, {.type = parse_dtype("{mass:f8}")}), "mass");
  EXPECT_EQ(compare_masses(source), (test::Found{struct_count, 0}));
}

TEST_P(FieldTest, HasSectionsWhichMerge) {
  const Source whole = structs(layouts[4]);
  const Source source = field(whole, "mass");
  EXPECT_EQ(compare_masses(section(source, 4096, 8192)), (test::Found{8192, 0}));
  EXPECT_EQ(compare_masses(field(section(whole, 4096, 8192), "mass")), (test::Found{8192, 0}));
  auto [all, stats] = collect(*coordinator_, CompareMasses{}, shard(source, 0, 3, 4096));
  for (const std::uint64_t i : {2u, 1u}) {
    all.merge(collect(*coordinator_, CompareMasses{}, shard(source, i, 3, 4096)).value);
  }
  EXPECT_EQ(std::move(all).result(), (test::Found{struct_count, 0}));
}

TEST_P(FieldTest, HasRows) {
  Source whole = structs(layouts[3]);
  whole.set_shape({struct_count / 3, 3});
  const Source source = field(whole, "kind");
  EXPECT_EQ(source.columns(), 3u);
  EXPECT_EQ(fold(*coordinator_, CompareRows{}, source).value, (test::Found{struct_count, 0}));
  std::size_t next = 0;
  Chunks chunks(*coordinator_, source, {.rows = 1000});
  const auto stream = coordinator_->device().make_stream();
  while (const auto chunk = chunks.next(*stream)) {
    const auto in = chunk->rows<std::int16_t>();
    ASSERT_EQ(in.columns, 3u);
    for (const std::int16_t kind : on_host<const std::int16_t>(*stream, in)) {
      ASSERT_EQ(kind, particle(next++).kind);
    }
  }
  EXPECT_EQ(next, struct_count);
}

TEST_P(FieldTest, IsReadBesideAnother) {
  const Source whole = structs(layouts[4]);
  const Source masses = field(whole, "mass"), places = field(whole, "x");
  EXPECT_EQ(fold(*coordinator_, CompareTwo{}, zip(masses, places)).value,
            (test::Found{struct_count, 0}));
}

TEST_P(FieldTest, IsMapped) {
  const Source source = field(structs(layouts[3]), "mass");
  const Target out = target("out.f32", {ElementType::f4});
  map(*coordinator_, Halved{}, source, out);
  const std::string bytes = test::read_whole(out.path);
  ASSERT_EQ(bytes.size(), struct_count * sizeof(float));
  for (std::uint64_t i = 0; i < struct_count; ++i) {
    float made;
    std::memcpy(&made, bytes.data() + i * sizeof(made), sizeof(made));
    ASSERT_EQ(made, static_cast<float>(particle(i).mass / 2)) << i;
  }
}

TEST_P(FieldTest, StaysOnTheDevice) {
  const Source source = field(structs(layouts[4]), "mass");
  const Resident kept(*coordinator_, source);
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_EQ(fold(*coordinator_, CompareMasses{}, kept).value, (test::Found{struct_count, 0}))
        << pass;
  }
}

TEST_P(FieldTest, HasACheckpoint) {
  const Source source = field(structs(layouts[4]), "mass");
  const PassOptions wanted{.checkpoint = {.file = dir_.path() / "state", .every_seconds = 0}};
  for (const std::uint64_t resumed : {std::uint64_t{0}, source.bytes()}) {
    const auto [found, stats] = fold(*coordinator_, CompareMasses{}, source, wanted);
    EXPECT_EQ(found, (test::Found{struct_count, 0}));
    EXPECT_EQ(stats.outcome.resumed_bytes, resumed);
  }
}

TEST_P(FieldTest, OfBoolsIsZeroOrOne) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 1000; ++i) {
    for (const int value : {7, i % 3 == 0 ? 0 : i % 200 + 1, 9}) {
      bytes.push_back(static_cast<std::byte>(value));
    }
  }
  DType type = parse_dtype("{a:u1,is:u1,b:u1}");
  type.fields[1].is_bool = true;
  const Source source = field(open(dir_.write("in.bin", bytes), {.type = type}), "is");
  EXPECT_TRUE(source.type()->is_bool);
  Chunks chunks(*coordinator_, source);
  const auto stream = coordinator_->device().make_stream();
  std::size_t i = 0;
  while (const auto chunk = chunks.next(*stream)) {
    for (const std::uint8_t is : on_host<const std::uint8_t>(*stream, chunk->rows<std::uint8_t>()))
      ASSERT_EQ(is, i++ % 3 != 0);
  }
  EXPECT_EQ(i, 1000u);
}

TEST_P(FieldTest, IsRefusedIfItIsNotOneElement) {
  const Source source = structs(layouts[4]);
  const auto refuses = [&](const char* what, const auto& body) {
    expect_error(ErrorKind::usage, what, body);
  };
  refuses("has no field 'cost'", [&] { field(source, "cost"); });
  refuses("field 'cell' has 3 elements", [&] { field(source, "cell"); });
  refuses("has no field 'mass'", [&] { field(field(source, "mass"), "mass"); });
  const std::array<std::byte, 64> nothing{};
  const Source plain = from_memory(nothing, {ElementType::f4});
  refuses("has no field 'x'", [&] { field(plain, "x"); });
}

TEST_P(FieldTest, IsReadAsItsOwnTypeOnly) {
  const Source source = field(structs(layouts[4]), "mass");
  expect_error(ErrorKind::bad_input, "holds float64, the operator takes",
               [&] { fold(*coordinator_, CompareRows{}, source); });
  expect_error(ErrorKind::bad_input, "holds float64, the operator takes 1 bytes",
               [&] { fold(*coordinator_, CountBytes{}, source); });
}

}  // namespace
}  // namespace ooc::detail
