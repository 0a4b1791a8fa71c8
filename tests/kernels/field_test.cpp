// Tests that a field of structs has the results of the same numbers in a file of their own.

#include <ooc/convert.hpp>
#include <ooc/histogram.hpp>
#include <ooc/matmul.hpp>
#include <ooc/reduce.hpp>

#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "support/bits.hpp"
#include "support/devices.hpp"
#include "support/temp_dir.hpp"
#include "support/values_file.hpp"

namespace ooc::detail {
namespace {

using test::bits_of;
using test::expect_error;

constexpr std::size_t count = 300'001;

class FieldResults : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    OOC_SKIP_WITHOUT(GetParam());
    std::vector<std::byte> structs(count * 11, std::byte{0xee});
    for (std::size_t i = 0; i < count; ++i) {
      const auto swapped = __builtin_bswap32(std::bit_cast<std::uint32_t>(values_[i]));
      std::memcpy(structs.data() + i * 11 + 3, &values_[i], sizeof(float));
      std::memcpy(structs.data() + i * 11 + 7, &swapped, sizeof(swapped));
    }
    structs_ = dir_.write("structs.bin", structs);
    plain_ = dir_.write("plain.f32", std::as_bytes(std::span(values_)));
  }

  Source source(const char* name) const {
    return field(open(structs_, {.type = parse_dtype("{:V3,x:f4,y:>f4}")}), name);
  }

  Coordinator coordinator() const { return Coordinator(make_device(GetParam()), {}); }

  const std::vector<float> values_ = test::rough_numbers(count);
  test::TempDir dir_;
  std::filesystem::path structs_, plain_;
};

INSTANTIATE_TEST_SUITE_P(Device, FieldResults, test::all_devices, test::device_name);

TEST_P(FieldResults, AreTheBitsOfTheSameNumbers) {
  Coordinator machine = coordinator();
  const Source plain = open(plain_);
  for (const bool exact : {false, true}) {
    const ReduceOptions options{.exact = exact};
    const Statistics expected = reduce(machine, plain, options).value;
    for (const char* const name : {"x", "y"}) {
      const Statistics found = reduce(machine, source(name), options).value;
      EXPECT_EQ(found.count, count);
      EXPECT_EQ(found.sum, expected.sum) << name;
      EXPECT_EQ(bits_of(*found.variance), bits_of(*expected.variance)) << name;
      EXPECT_EQ(found.argmin, expected.argmin);
      EXPECT_EQ(found.argmax, expected.argmax);
      verify_reduce(machine, source(name), options, found);
      const Source part = section(source(name), tile_elements, count - tile_elements);
      verify_reduce(machine, part, options, reduce(machine, part, options).value);
    }
  }
  const Histogram expected = histogram(machine, plain, {.bins = 50}).value;
  for (const char* const name : {"x", "y"}) {
    const auto [found, stats] = histogram(machine, source(name), {.bins = 50});
    EXPECT_EQ(found.counts, expected.counts);
    EXPECT_EQ(found.edges, expected.edges);
    EXPECT_EQ(stats.outcome.bytes, count * 11);
    EXPECT_GT(dry_run_histogram({}, GetParam(), source(name), {.bins = 50}).layout.chunks, 0u);
  }
}

TEST_P(FieldResults, AreConvertedAlike) {
  Coordinator machine = coordinator();
  const auto convert_to = [&](const Source& from, const char* name, ElementType type) {
    const Target to{.path = dir_.path() / name, .type = {type}, .replace = true};
    const auto [conversion, stats] = convert(machine, from, to);
    EXPECT_EQ(conversion.count, count);
    return test::read_whole(to.path);
  };
  for (const ElementType type : {ElementType::f4, ElementType::f8, ElementType::f2}) {
    const std::string expected = convert_to(open(plain_), "a.npy", type);
    for (const char* const name : {"x", "y"}) {
      EXPECT_TRUE(convert_to(source(name), "b.npy", type) == expected) << name_of(type);
    }
  }
  const Target to{.path = dir_.path() / "c.npy", .type = {ElementType::f8}};
  const Stats plan = dry_run_convert({}, GetParam(), source("y"), to);
  EXPECT_EQ(plan.outcome.bytes, count * 11);
}

TEST_P(FieldResults, AreRefusedWhereElementsMustLieSideBySide) {
  Coordinator machine = coordinator();
  Source matrix = source("x");
  matrix.set_shape({1, count});
  expect_error(ErrorKind::bad_input, "has gaps", [&] { dry_run_matmul(machine, matrix, matrix); });
}

}  // namespace
}  // namespace ooc::detail
