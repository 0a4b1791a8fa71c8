// Tests which sources an operator may read, depending on the element type of its Input.

#include <ooc/chunks.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/ooc.hpp>
#include <ooc/resident.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/operators.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;

struct Point {
  using Element = float;
  float x, y, z, w;
};

/// A struct that does not declare its element type.
struct Opaque {
  float x, y, z, w;
};

struct Foreign {
  std::int16_t left, right;
};

}  // namespace
}  // namespace ooc::detail

template <>
struct ooc::ElementOf<ooc::detail::Foreign> {
  using type = std::int16_t;
};

namespace ooc::detail {
namespace {

class InputTypeTest : public testing::Test {
 protected:
  std::filesystem::path npy(const std::string& descr, const std::string& shape,
                            std::size_t data_bytes) const {
    std::string header =
        "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(117, ' ');
    header += '\n';
    const std::string begin("\x93NUMPY\x01\0\x76\0", 10);
    return directory_.write("a.npy", begin + header + std::string(data_bytes, 'x'));
  }

  template <class T>
  std::uint64_t count(const Source& source) {
    return fold(coordinator_, test::Count<T>{}, source).value;
  }

  template <class T>
  void expect_refused(std::string_view problem, const Source& source) {
    expect_error(ErrorKind::bad_input, problem, [&] { count<T>(source); });
    expect_error(ErrorKind::bad_input, problem, [&] {
      map(coordinator_, test::Zero<T, std::uint8_t>{}, source,
          {.path = directory_.path() / "out.u8"});
    });
    expect_error(ErrorKind::bad_input, problem, [&] {
      fold(coordinator_, std::tuple{test::Count<T>{}, test::Count<T>{}}, source);
    });
    EXPECT_FALSE(std::filesystem::exists(directory_.path() / "out.u8"));
  }

  test::TempDir directory_;
  Coordinator coordinator_{make_device(DeviceKind::cpu)};
};

TEST_F(InputTypeTest, PlainBytesAreReadAsAnything) {
  const auto path = directory_.write("data", std::string(64, 'x'));
  EXPECT_EQ(count<float>(open_bytes(path)), 16u);
  EXPECT_EQ(count<Opaque>(open_bytes(path)), 4u);
  EXPECT_EQ(count<Point>(open_bytes(path)), 4u);
  const auto odd = directory_.write("odd", std::string(63, 'x'));
  expect_refused<float>("63 bytes are not a whole number of elements of 4 bytes", open_bytes(odd));
}

/// It has no data, and the answer would be that of an empty file.
TEST_F(InputTypeTest, ASourceThatWasMovedFromIsNoInput) {
  Source from = open(directory_.write("a.f32", std::string(64, 'x')));
  const Source to = std::move(from);
  const auto expect_none = [](auto&& body) {
    expect_error(ErrorKind::usage, "a source that was moved from has no data", body);
  };
  expect_none([&] { count<float>(from); });
  expect_none([&] { fold(coordinator_, std::tuple{test::Count<float>{}}, from); });
  expect_none([&] { reduce(coordinator_, from); });
  expect_none([&] { histogram(coordinator_, from); });
  expect_none([&] { convert(coordinator_, from, {.path = directory_.path() / "out.f32"}); });
  expect_none([&] {
    map(coordinator_, test::Zero<float, std::uint8_t>{}, from,
        {.path = directory_.path() / "out.u8"});
  });
  expect_none([&] { Chunks(coordinator_, from).next(); });
  expect_none([&] { Resident(coordinator_, from); });
  expect_none([&] { shard(from, 0, 2); });
  EXPECT_EQ(count<float>(to), 16u);
}

TEST_F(InputTypeTest, TheHeaderOfAnNpyFileIsNoData) {
  const auto path = npy("<f4", "(16,)", 64);
  expect_refused<float>("a.npy: is a .npy file, opened as plain bytes", open_bytes(path));
  expect_refused<Opaque>("is a .npy file", open_bytes(path));
  std::filesystem::rename(path, directory_.path() / "renamed.f32");
  expect_refused<float>("is a .npy file", open_bytes(directory_.path() / "renamed.f32"));
  EXPECT_EQ(count<std::uint8_t>(open_bytes(directory_.path() / "renamed.f32")), 192u);
  EXPECT_EQ(count<std::byte>(open_bytes(directory_.path() / "renamed.f32")), 192u);
}

TEST_F(InputTypeTest, ElementsHaveTheTypeOfTheSource) {
  const Source source = open(npy("<f4", "(2, 8)", 64));
  EXPECT_EQ(count<float>(source), 16u);
  expect_refused<double>("a.npy: holds float32, the operator takes float64", source);
  expect_refused<std::int32_t>("holds float32, the operator takes int32", source);
  expect_refused<std::array<std::int16_t, 16>>("holds float32, the operator takes 16 int16",
                                               source);
}

TEST_F(InputTypeTest, ARowHasTheLastDimensions) {
  const Source matrix = open(npy("<f4", "(4, 16)", 256));
  EXPECT_EQ((count<std::array<float, 16>>(matrix)), 4u);
  EXPECT_EQ((count<std::array<std::array<float, 4>, 4>>(matrix)), 4u);
  EXPECT_EQ((count<std::array<float, 64>>(matrix)), 1u);
  expect_refused<std::array<float, 8>>("has the shape 4 x 16, the operator takes rows of 8 float32",
                                       matrix);
  expect_refused<Point>("the operator takes rows of 4 float32", matrix);
  const Source cube = open(npy("<f4", "(4, 4, 4)", 256));
  EXPECT_EQ(count<Point>(cube), 16u);
  EXPECT_EQ((count<std::array<float, 16>>(cube)), 4u);
  expect_refused<std::array<float, 8>>("has the shape 4 x 4 x 4", cube);
  EXPECT_EQ(count<Point>(open(npy("<f4", "(0, 16)", 0))), 0u);
}

TEST_F(InputTypeTest, ASequenceHasRowsOfAnyLengthThatDividesIt) {
  EXPECT_EQ(count<Point>(open(npy("<f4", "(16,)", 64))), 4u);
  EXPECT_EQ(count<Point>(open(directory_.write("a.f32", std::string(64, 'x')))), 4u);
  const Source odd = open(directory_.write("b.f32", std::string(68, 'x')));
  expect_refused<Point>("68 bytes are not a whole number of elements of 16 bytes", odd);
}

TEST_F(InputTypeTest, ARowLiesSideBySide) {
  Source source = open(npy("<f4", "(4, 16)", 256));
  SourceAccess::set_column_major(source, {{0, {4, 1}}});
  EXPECT_EQ(count<float>(source), 64u);
  expect_refused<std::array<float, 16>>("is stored column by column", source);
}

TEST_F(InputTypeTest, AStructSaysWhatItIsMadeOf) {
  const Source source = open(npy("<f4", "(4, 4)", 64));
  EXPECT_EQ(count<Point>(source), 4u);
  expect_refused<Opaque>("the operator's Input does not say what it is made of", source);
  try {
    count<Opaque>(source);
  } catch (const Error& error) {
    EXPECT_EQ(error.details().hint,
              "declare `using Element = float;` (or what it is) in the struct, or open the file as "
              "plain bytes: ooc::Source{ooc::File::open(path)}");
  }
}

TEST_F(InputTypeTest, OfAForeignStructItIsSaidBesideIt) {
  EXPECT_EQ(count<Foreign>(open(npy("<i2", "(5, 2)", 20))), 5u);
  expect_refused<Foreign>("holds float32, the operator takes 2 int16",
                          open(npy("<f4", "(5,)", 20)));
}

TEST_F(InputTypeTest, BytesAreThoseOfAnyType) {
  const Source source = open(npy("<f4", "(2, 8)", 64));
  EXPECT_EQ(count<std::byte>(source), 64u);
  EXPECT_EQ((count<std::array<std::byte, 4>>(source)), 16u);
  EXPECT_EQ((count<std::array<std::byte, 32>>(source)), 2u);
  expect_refused<std::array<std::byte, 6>>("holds float32, the operator takes 6 bytes at once",
                                           source);
  expect_refused<std::array<std::byte, 16>>("the operator takes rows of 4 float32", source);
}

}  // namespace
}  // namespace ooc::detail
