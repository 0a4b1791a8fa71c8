#include <gtest/gtest.h>

#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/error.hpp>
#include <ooc/target.hpp>

#include <sys/stat.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::TempDir;
using Names = std::vector<std::string>;
using Shape = std::vector<std::uint64_t>;

const DType f4{ElementType::f4};
constexpr std::size_t header_bytes = 4096;

std::string header(DType type, const Shape& shape) {
  const std::vector<std::byte> bytes = npy_header(type, shape);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns the exact bytes of a header with this `text`.
std::string header_that_says(std::string text) {
  text.resize(header_bytes - 10 - 1, ' ');
  return std::string("\x93NUMPY\x01\x00\xf6\x0f", 10) + text + '\n';
}

TEST(NpyHeader, SaysTypeAndShapeToNumPy) {
  EXPECT_EQ(header(f4, {3}),
            header_that_says("{'descr': '<f4', 'fortran_order': False, 'shape': (3, ), }"));
  EXPECT_EQ(header({ElementType::i2, true}, {3, 0, 5}),
            header_that_says("{'descr': '>i2', 'fortran_order': False, 'shape': (3, 0, 5, ), }"));
  EXPECT_EQ(header({ElementType::u1}, {}),
            header_that_says("{'descr': '|u1', 'fortran_order': False, 'shape': (), }"));
}

TEST(NpyHeader, SaysFieldsAndPaddingToNumPy) {
  EXPECT_EQ(header(parse_dtype("{x:f4,:V4,y:>i8[3],'''':u1,:V7}"), {2}),
            header_that_says("{'descr': [('x', '<f4'), ('', '|V4'), ('y', '>i8', (3,)), (\"'\", "
                             "'|u1'), ('', '|V7')], 'fortran_order': False, 'shape': (2, ), }"));
  expect_error(ErrorKind::usage, "has a name of plain characters",
               [] { npy_header(parse_dtype("{'''\"':u1}"), Shape{1}); });
  std::string many = "{a:u1";
  for (int i = 0; i < 400; ++i) many += ",b" + std::to_string(i) + ":f4";
  expect_error(ErrorKind::usage, "too many fields",
               [&] { npy_header(parse_dtype(many + "}"), {}); });
}

TEST(NpyHeader, HasRoomForAllDimensionsOfNumPy) {
  EXPECT_EQ(header(f4, Shape(64, ~std::uint64_t{0})).size(), header_bytes);
  expect_error(ErrorKind::usage, "too many dimensions", [] { npy_header(f4, Shape(2000, 1)); });
}

class TargetTest : public testing::Test {
 protected:
  /// Writes and commits a file of `elements` zeros.
  void write(const Target& target, std::uint64_t elements) {
    TargetFile file(target, elements, {});
    file.commit();
  }

  std::filesystem::path path(const std::string& name) const { return directory_.path() / name; }

  TempDir directory_;
};

TEST_F(TargetTest, NpyFilesComeBackAsTheyWereMeant) {
  for (const Shape& shape : {Shape{6}, Shape{2, 3}, Shape{1, 6, 1}}) {
    for (const DType& type : {f4, DType{ElementType::i8, true}, DType{ElementType::u1},
                              parse_dtype("{x:f4,:V3,y:>f2[2]}")}) {
      write({.path = path("x.npy"), .type = type, .shape = shape, .replace = true}, 6);
      const Source source = open(path("x.npy"));
      EXPECT_EQ(source.type(), type);
      EXPECT_EQ(Shape(source.shape().begin(), source.shape().end()), shape);
      EXPECT_EQ(storage_of(source).front().offset, header_bytes);
      EXPECT_EQ(source.bytes(), 6 * size_of(type));
    }
  }
}

TEST_F(TargetTest, AShapeThatIsNotGivenIsASequence) {
  write({.path = path("x.npy"), .type = f4}, 6);
  EXPECT_EQ(test::read_whole(path("x.npy")).substr(0, header_bytes), header(f4, {6}));
  write({.path = path("empty.npy"), .type = f4}, 0);
  EXPECT_EQ(test::read_whole(path("empty.npy")), header(f4, {0}));
}

TEST_F(TargetTest, ShapesMayHaveNoElements) {
  const std::uint64_t huge = std::uint64_t{1} << 40;
  write({.path = path("x.npy"), .type = f4, .shape = {huge, huge, 0}}, 0);
  EXPECT_EQ(test::read_whole(path("x.npy")), header(f4, {huge, huge, 0}));
}

TEST_F(TargetTest, MayBeAppendedTo) {
  for (const Shape& row_shape : {Shape{}, Shape{3}, Shape{2, 3}}) {
    for (const std::uint64_t rows : {0u, 5u}) {
      const std::uint64_t row_bytes = 4 * (row_shape.empty() ? 1 : row_shape.size() == 1 ? 3 : 6);
      TargetFile file({.path = path("appended.npy"), .type = {ElementType::f4}, .replace = true},
                      1'000'000, {}, Purpose::append);
      for (std::uint64_t row = 0; row < rows; ++row) {
        EXPECT_EQ(file.append(row_bytes), file.data_offset() + row * row_bytes);
      }
      EXPECT_EQ(file.appended_bytes(), rows * row_bytes);
      file.end(row_shape);
      file.commit();
      Shape shape{rows};
      shape.insert(shape.end(), row_shape.begin(), row_shape.end());
      const Source source = open(path("appended.npy"));
      EXPECT_EQ(Shape(source.shape().begin(), source.shape().end()), shape);
      EXPECT_EQ(source.bytes(), rows * row_bytes);
    }
  }
}

// open() would take the file for what its ending names.
TEST_F(TargetTest, TheEndingOfARawFileNamesItsType) {
  const auto make = [&](const char* name, DType type) {
    TargetFile(Target{.path = path(name), .type = std::move(type)}, 3, {}, Purpose::dry_run);
  };
  expect_error(ErrorKind::usage, "x.f32: the ending names float32, the target holds uint8",
               [&] { make("x.f32", {ElementType::u1}); });
  expect_error(ErrorKind::usage, "x.u8: the ending names uint8, the target holds uint64",
               [&] { make("x.u8", {ElementType::u8}); });
  expect_error(ErrorKind::usage, "x.F4: the ending names float32, the target holds {x:<f4}",
               [&] { make("x.F4", parse_dtype("{x:f4}")); });
  make("x.f32", f4);
  make("x.f4", {ElementType::f4, true});
  make("x.bin", {ElementType::u8});
  make("x", {ElementType::f2});
  make("x.npy", {ElementType::f2});
}

TEST_F(TargetTest, OtherFormatsAreNotWritten) {
  for (const char* const name : {"x.h5", "x.csv", "x.NPZ"}) {
    expect_error(ErrorKind::usage, "only raw values and .npy files are written", [&] {
      TargetFile(Target{.path = path(name), .type = f4}, 3, {}, Purpose::dry_run);
    });
  }
}

TEST_F(TargetTest, RawFilesAreNothingButData) {
  const Target target{.path = path("x.bf16"), .type = {ElementType::bf16}, .shape = {7}};
  TargetFile file(target, 3, {});
  EXPECT_EQ(file.data_offset(), 0u);
  file.commit();
  EXPECT_EQ(std::filesystem::file_size(target.path), 6u);
}

TEST_F(TargetTest, RefusesWhatNpyCannotHold) {
  expect_error(ErrorKind::usage, "bf16 cannot be in a .npy file",
               [&] { TargetFile({.path = path("x.npy"), .type = {ElementType::bf16}}, 3, {}); });
  const std::uint64_t huge = std::uint64_t{1} << 33;
  const std::pair<Shape, std::string> cases[] = {
      {{2, 2}, "2 x 2 = 4"},
      {{0}, "0"},
      {{1}, "1"},
      {{16, 4096}, "16 x 4,096 = 65,536"},
      {{huge, huge}, "8,589,934,592 x 8,589,934,592, which is more than 64 bits hold"}};
  for (const auto& [shape, equation] : cases) {
    expect_error(ErrorKind::usage, "the shape does not fit: " + equation + ", the input has 3",
                 [&] { TargetFile({.path = path("x.npy"), .type = f4, .shape = shape}, 3, {}); });
  }
  EXPECT_EQ(directory_.names(), Names{});
}

TEST_F(TargetTest, OneThatIsTriedLeavesNothing) {
  const Target target{.path = path("x.npy"), .type = f4};
  {
    const TargetFile tried(target, 1'000'000, {}, Purpose::dry_run);
    const TargetFile written(target, 1'000'000, {});
    EXPECT_EQ(tried.data_offset(), written.data_offset());
    EXPECT_EQ(tried.direct() >= 0, written.direct() >= 0);
    EXPECT_EQ(tried.why_not_direct(), written.why_not_direct());
    EXPECT_EQ(tried.is_tmpfs(), written.is_tmpfs());
    struct stat status {};
    ASSERT_EQ(::fstat(tried.buffered(), &status), 0);
    EXPECT_LE(status.st_blocks * 512, 64 * 1024) << "it takes space";
  }
  EXPECT_EQ(directory_.names(), Names{});
}

TEST_F(TargetTest, OneThatIsTriedIsRefusedAsOneThatIsWritten) {
  const auto attempt = [&](const Target& target, std::uint64_t elements) {
    return [target, elements] { TargetFile(target, elements, {}, Purpose::dry_run); };
  };
  expect_error(ErrorKind::output, "No such file or directory",
               attempt({.path = path("missing/x.f32"), .type = f4}, 3));
  expect_error(ErrorKind::output, "No space left",
               attempt({.path = path("x.f32"), .type = f4}, std::uint64_t{1} << 58));
  expect_error(ErrorKind::usage, "the shape does not fit: 2, the input has 3",
               attempt({.path = path("x.npy"), .type = f4, .shape = {2}}, 3));
  directory_.write("there.f32", "precious");
  expect_error(ErrorKind::output, "exists already",
               attempt({.path = path("there.f32"), .type = f4}, 3));
  TargetFile({.path = path("there.f32"), .type = f4, .replace = true}, 3, {}, Purpose::dry_run);
  EXPECT_EQ(test::read_whole(path("there.f32")), "precious");
}

TEST_F(TargetTest, RefusesSizesThatNoFileHas) {
  for (const std::uint64_t elements : {std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    expect_error(ErrorKind::usage, "so large a file",
                 [&] { TargetFile({.path = path("x.f32"), .type = f4}, elements, {}); });
  }
  EXPECT_EQ(directory_.names(), Names{});
}

TEST_F(TargetTest, IsNeverOneOfTheInputsByWhateverName) {
  const auto first = directory_.write("first", "first");
  const auto input = directory_.write("input", "input");
  std::filesystem::create_hard_link(input, path("hard"));
  std::filesystem::create_symlink("input", path("soft"));
  std::filesystem::create_directory(path("sub"));
  const Source other = open_bytes(first);
  const Source source = open_bytes(input);
  const std::array inputs{&other, &source};
  const Names before = directory_.names();
  expect_error(ErrorKind::usage, input.string() + ": is the input", [&] {
    TargetFile({.path = input, .type = ElementType::u1, .replace = true}, 1, inputs);
  });
  for (const char* name : {"hard", "soft", "./input", "sub/../input"}) {
    expect_error(
        ErrorKind::usage,
        path(name).string() + ": is the input " + input.string() + " by another name", [&] {
          TargetFile({.path = path(name), .type = ElementType::u1, .replace = true}, 1, inputs);
        });
  }
  EXPECT_EQ(test::read_whole(input), "input");
  EXPECT_EQ(directory_.names(), before);
}

TEST_F(TargetTest, RefusesPlacesAsOutputFilesDo) {
  const auto old = directory_.write("old", "old");
  expect_error(ErrorKind::output, "exists already",
               [&] { TargetFile({.path = old, .type = ElementType::u1}, 1, {}); });
  expect_error(ErrorKind::output, "(ENOENT)",
               [&] { TargetFile({.path = path("missing/x"), .type = ElementType::u1}, 1, {}); });
  expect_error(ErrorKind::output, "is a directory", [&] {
    TargetFile({.path = directory_.path(), .type = ElementType::u1, .replace = true}, 1, {});
  });
  expect_error(ErrorKind::output, "is not the name of a file",
               [&] { TargetFile({.path = path("x/"), .type = ElementType::u1}, 1, {}); });
  expect_error(ErrorKind::output, "create failed",
               [&] { TargetFile({.path = "/proc/x", .type = ElementType::u1}, 1, {}); });
  EXPECT_EQ(test::read_whole(old), "old");
  EXPECT_EQ(directory_.names(), Names{"old"});
}

// For example, /dev/stdout is a link to a device.
TEST_F(TargetTest, ReplacesNoLinkToADevice) {
  std::filesystem::create_symlink("/dev/null", path("device"));
  expect_error(ErrorKind::output, "is not a regular file", [&] {
    TargetFile({.path = path("device"), .type = ElementType::u1, .replace = true}, 1, {});
  });
  EXPECT_TRUE(std::filesystem::is_symlink(path("device")));
}

}  // namespace
}  // namespace ooc::detail
