// Tests what open() takes files and streams for, by their first bytes.

#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/producer.hpp>
#include <ooc/detail/dataset/sample.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "io/dataset/npy_text.hpp"
#include "io/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::header_of;
using test::npy;
using namespace std::string_literals;

// One block that is not compressed, of 17 bytes, and what is behind it.
const std::string gzip = "\x1f\x8b\x08\0\0\0\0\0\x02\xff\x01\x11\0\xee\xff"s + std::string(25, 'x');

/// The bytes of numbers between -90 and 90.
std::string degrees() {
  std::string text;
  for (int i = 0; i < 4000; ++i) {
    const double value = std::sin(i) * 90;
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    text.append(bytes, sizeof value);
  }
  return text;
}

TEST(OpenTest, TakesAListOfPaths) {
  const test::TempDir directory;
  const auto one = directory.write("a.f32", std::string(8, 'a'));
  const auto two = directory.write("b.f32", std::string(4, 'b'));
  EXPECT_EQ(open({one, two}).bytes(), 12u);
  EXPECT_EQ(open({one, two}, {.count = 2}).bytes(), 8u);
  EXPECT_EQ(files_of(open({one.c_str(), two.c_str()})).size(), 2u);
  expect_error(ErrorKind::usage, "at least one file",
               [] { open(std::initializer_list<std::filesystem::path>{}); });
}

TEST(OpenTest, RefusesOtherFormatsWhateverTypeIsGiven) {
  const test::TempDir directory;
  const auto path = directory.write("a.f32", gzip);
  for (const Format& format :
       {Format{}, Format{.type = parse_dtype("f4")}, Format{.type = parse_dtype("u1")}}) {
    expect_error(ErrorKind::bad_input, "a.f32: looks like gzip", [&] { open(path, format); });
  }
  EXPECT_EQ(open(path, {.file = FileFormat::raw}).bytes(), 40u);
  EXPECT_EQ(open(path, {.offset = 4}).bytes(), 36u);
  EXPECT_EQ(open_bytes(path).bytes(), 40u);
  const Opened opened = open_unjudged({&path, 1}, {});
  EXPECT_EQ(opened.source.bytes(), 40u);
  EXPECT_EQ(opened.signature->name, "gzip");
  EXPECT_FALSE(opened.is_readable);
  EXPECT_TRUE(open_unjudged({&path, 1}, {.file = FileFormat::raw}).is_readable);
  try {
    open(path);
  } catch (const Error& error) {
    EXPECT_EQ(advice(error.details()),
              "decompress it first, or set Format::offset or Format::file to raw");
  }
}

TEST(OpenTest, RefusesTextUntilATypeIsGiven) {
  const test::TempDir directory;
  const auto path = directory.write("a.csv", "1,2\n3,4\n"s);
  expect_error(ErrorKind::bad_input, "a.csv: looks like text", [&] { open(path); });
  EXPECT_EQ(open(path, {.type = parse_dtype("u1")}).bytes(), 8u);
  EXPECT_EQ(open(directory.write("a.u8", "1,2\n3,4\n"s)).bytes(), 8u);
}

TEST(OpenTest, RefusesNumbersOfATypeThatNothingSays) {
  const test::TempDir directory;
  const auto path = directory.write("lat.dat", degrees());
  expect_error(ErrorKind::usage, "lat.dat: looks like float64, but nothing says its type",
               [&] { open(path); });
  try {
    open(path);
  } catch (const Error& error) {
    EXPECT_EQ(advice(error.details()),
              "set Format::type to f8 (reads 4,000 values, the first ones from -89.9992 to "
              "89.9992) or Format::type to u1 (counts bytes)");
  }
  EXPECT_EQ(open(path, {.type = parse_dtype("f8")}).bytes(), 32'000u);
  EXPECT_EQ(open(path, {.type = parse_dtype("u1")}).bytes(), 32'000u);
  EXPECT_EQ(open_bytes(path).bytes(), 32'000u);
  EXPECT_EQ(open_unjudged({&path, 1}, {}).source.bytes(), 32'000u);
  EXPECT_TRUE(open_unjudged({&path, 1}, {}).is_readable);
  EXPECT_TRUE(type_is_default(File::open(path), {}));
  EXPECT_FALSE(type_is_default(File::open(path), {.type = parse_dtype("u1")}));
  const auto behind = directory.write("head.dat", std::string(40, 'h') + degrees());
  expect_error(ErrorKind::usage, "looks like float64", [&] { open(behind, {.offset = 40}); });
}

TEST(OpenTest, KeepsTheBeginningForAGlance) {
  const test::TempDir directory;
  const auto path = directory.write("lat.f64", degrees());
  const Source source = open(path);
  const std::vector<std::byte> start =
      start_of(files_of(source).front(), storage_of(source).front());
  EXPECT_EQ(start.size(), glance_bytes);
  directory.write("lat.f64", std::string(degrees().size(), '\0'));  // it is not read again
  EXPECT_EQ(glance(source), start);
  EXPECT_EQ(glance(section(source, 1, 2)), std::vector(start.begin() + 8, start.begin() + 24));
}

TEST(OpenTest, TellsTheFormatOfAllFiles) {
  const test::TempDir directory;
  const auto array = directory.write("a.npy", npy(header_of("'|u1'", "False", "(3,)"), 3));
  const auto bytes = directory.write("b.u8", "1"s);
  EXPECT_TRUE(open(array).has_format(FileFormat::npy));
  EXPECT_TRUE(open(bytes).has_format(FileFormat::raw));
  const Source both = open({array, bytes});
  EXPECT_EQ(both.format, "mixed");
  for (const FileFormat format : {FileFormat::automatic, FileFormat::npy, FileFormat::raw}) {
    EXPECT_FALSE(both.has_format(format));
    EXPECT_FALSE(from_memory({}, ElementType::u1).has_format(format));
  }
}

TEST(OpenTest, LeavesOutWhatIsBehindAnArray) {
  const test::TempDir directory;
  const auto one = directory.write("a.npy", npy(header_of("'<f4'", "False", "(3,)"), 12 + 7));
  const auto two = directory.write("b.npy", npy(header_of("'<f4'", "False", "(2,)"), 8 + 1));
  const Source source = open({one, two});
  EXPECT_EQ(source.bytes(), 20u);
  EXPECT_EQ(source.bytes_behind(), 8u);
  EXPECT_EQ(open(one).bytes_behind(), 7u);
}

TEST(OpenTest, ReadsBfloat16IfThatIsSaid) {
  const test::TempDir directory;
  for (const char* descr : {"'|V2'", "'<V2'", "'V2'"}) {
    const auto path = directory.write("a.npy", npy(header_of(descr, "False", "(3,)"), 6));
    EXPECT_EQ(code_of(*open(path, {.type = parse_dtype("bf16")}).type()), "<bf16");
    expect_error(ErrorKind::bad_input, "holds opaque bytes", [&] { open(path); });
    expect_error(ErrorKind::bad_input, "holds opaque bytes",
                 [&] { open(path, {.type = parse_dtype("u2")}); });
  }
}

/// Reads the bytes through a pipe.
class OpenStreamTest : public testing::Test {
 protected:
  ~OpenStreamTest() override {
    if (writer_.joinable()) writer_.join();
    if (ends_[0] >= 0) ::close(ends_[0]);
  }

  int piped(const std::string& text) {
    EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0);
    writer_ = std::thread([text, end = ends_[1]] {
      EXPECT_EQ(::write(end, text.data(), text.size()), static_cast<ssize_t>(text.size()));
      ::close(end);
    });
    return ends_[0];
  }

  static std::string read_all(const Source& source) {
    SourceAccess::begin_producer(source);
    std::string all;
    std::vector<std::byte> room(100);
    while (const std::size_t bytes = SourceAccess::producer(source)->fill(room, {})) {
      all.append(reinterpret_cast<const char*>(room.data()), bytes);
    }
    return all;
  }

  std::thread writer_;
  int ends_[2] = {-1, -1};
};

TEST_F(OpenStreamTest, AnNpyFileHasItsHeader) {
  const std::string file = npy(header_of("'<i2'", "False", "(4, 50)"), 400);
  const Source source = from_descriptor(piped(file), parse_dtype("i2"));
  EXPECT_EQ(source.format, "npy");
  EXPECT_EQ(source.type_reason, "from its header");
  EXPECT_EQ(source.columns(), 50u);
  EXPECT_EQ(source.shape().size(), 2u);
  EXPECT_EQ(read_all(source), file.substr(file.size() - 400));
  EXPECT_EQ(source.bytes_behind(), 0u);
}

TEST_F(OpenStreamTest, AnNpyFileNeedsNoType) {
  const Source source =
      open(read_descriptor(piped(npy(header_of("'>f8'", "False", "(5,)"), 40)), "a pipe"));
  EXPECT_EQ(source.type(), parse_dtype(">f8"));
}

TEST_F(OpenStreamTest, AnNpyFileIsNotContradicted) {
  expect_error(ErrorKind::bad_input, "the input: holds <f8, not the <f4 asked for", [&] {
    from_descriptor(piped(npy(header_of("'<f8'", "False", "(5,)"), 40)), parse_dtype("f4"));
  });
}

TEST_F(OpenStreamTest, AnNpyFileHasTheRowsThatAreAskedFor) {
  const std::vector<std::uint64_t> rows{7};
  expect_error(ErrorKind::bad_input, "its rows have another shape", [&] {
    from_descriptor(piped(npy(header_of("'|u1'", "False", "(4, 10)"), 40)), parse_dtype("u1"),
                    rows);
  });
}

TEST_F(OpenStreamTest, ATruncatedArrayIsAnError) {
  const std::string file = npy(header_of("'|u1'", "False", "(4000,)"), 3999);
  const Source source = open(read_descriptor(piped(file), "a pipe"));
  expect_error(ErrorKind::bad_input,
               "a pipe: is truncated: its header says " + std::to_string(file.size() + 1) +
                   " bytes, it has " + std::to_string(file.size()),
               [&] { read_all(source); });
}

TEST_F(OpenStreamTest, ALongTruncatedArrayIsAnError) {
  const std::string file = npy(header_of("'|u1'", "False", "(9000,)"), 8000);
  const Source source = open(read_descriptor(piped(file), "a pipe"));
  expect_error(ErrorKind::bad_input, "is truncated", [&] { read_all(source); });
}

TEST_F(OpenStreamTest, WhatIsBehindAnArrayIsCounted) {
  const std::string file = npy(header_of("'|u1'", "False", "(4000,)"), 9000);
  const Source source = open(read_descriptor(piped(file), "a pipe"));
  EXPECT_EQ(read_all(source).size(), 4000u);
  EXPECT_EQ(source.bytes_behind(), 5000u);
}

TEST_F(OpenStreamTest, OtherFormatsAreRefused) {
  expect_error(ErrorKind::bad_input, "the input: looks like gzip",
               [&] { from_descriptor(piped(gzip), parse_dtype("u1")); });
}

TEST_F(OpenStreamTest, RawNumbersNeedAType) {
  expect_error(ErrorKind::usage, "the type of a pipe is not known",
               [&] { open(read_descriptor(piped("12345678"), "a pipe")); });
}

TEST_F(OpenStreamTest, RawNumbersComeWhole) {
  std::string numbers(20'000, '\0');
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<char>(i * i);
  const Source source = from_descriptor(piped(numbers), parse_dtype("u1"));
  EXPECT_EQ(read_all(source), numbers);
  expect_error(ErrorKind::usage, "was read already", [&] { SourceAccess::require_unread(source); });
}

TEST_F(OpenStreamTest, BytesThatAreMeantAreRead) {
  const Source source = open(read_descriptor(piped(gzip), "a pipe"),
                             {.type = parse_dtype("u1"), .file = FileFormat::raw});
  EXPECT_EQ(read_all(source), gzip);
}

TEST(OpenPipeTest, AFifoIsReadByItsPath) {
  const test::TempDir directory;
  const auto path = directory.path() / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(is_pipe(path));
  EXPECT_FALSE(is_pipe(directory.path()));
  const std::string file = npy(header_of("'|u1'", "False", "(4000,)"), 4000);
  std::thread writer([&] { std::ofstream(path, std::ios::binary) << file; });
  const Source source = open(path);
  writer.join();
  EXPECT_EQ(source.columns(), 1u);
  EXPECT_TRUE(source.is_produced());
  expect_error(ErrorKind::usage, "a pipe cannot be one of several files", [&] {
    open({path, directory.write("a.u8", "1"s)});
  });
}

}  // namespace
}  // namespace ooc::detail
