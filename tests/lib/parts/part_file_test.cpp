#include <ooc/detail/parts/part_file.hpp>
#include <ooc/fold.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checksum/xxh3.hpp"
#include "io/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using Bytes = std::vector<std::byte>;

Bytes saved(std::string_view text) {
  Bytes bytes;
  append_text(bytes, text);
  return bytes;
}

/// Returns the bytes with the hash that belongs to them.
Bytes with_hash(Bytes bytes) {
  const std::size_t hashed = bytes.size() - sizeof(XXH128_canonical_t);
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes.data(), hashed));
  std::memcpy(bytes.data() + hashed, &hash, sizeof hash);
  return bytes;
}

/// Returns the bytes with another text in place of one of the same length.
Bytes with_text(Bytes bytes, std::string_view text, std::string_view other) {
  const auto* const begin = reinterpret_cast<const char*>(bytes.data());
  const std::size_t at = std::string_view(begin, bytes.size()).find(text);
  EXPECT_NE(at, std::string_view::npos) << text;
  EXPECT_EQ(text.size(), other.size());
  std::memcpy(bytes.data() + at, other.data(), other.size());
  return with_hash(std::move(bytes));
}

class PartFileTest : public testing::Test {
 protected:
  PartFile example() const {
    PartFile file{.question = R"({"above":5})", .about = R"(["a","b"])"};
    file.input.push_back(
        {.name = "x \xff", .bytes = ~std::uint64_t{0}, .modified_ns = -7, .hash = 9});
    const std::vector<RecordRange> covers{{0, 5}, {7, std::uint64_t{1} << 60}};
    add_part(file, std::uint64_t{1} << 61, covers, saved("first"));
    add_part(file, std::uint64_t{1} << 61, covers, saved("second"));
    file.earlier = {saved("earlier")};
    return file;
  }

  PartFile read(const Bytes& bytes) const {
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return read_part_file(dir_.write("changed.part", text));
  }

  test::TempDir dir_;
};

TEST_F(PartFileTest, IsReadAsItWasWritten) {
  const PartFile file = example();
  const auto path = dir_.path() / "a.part";
  write_part_file(path, file);
  expect_error(ErrorKind::output, "exists", [&] { write_part_file(path, file); });
  write_part_file(path, file, true);
  const PartFile found = read_part_file(path);
  EXPECT_EQ(found.question, file.question);
  EXPECT_EQ(found.about, file.about);
  EXPECT_EQ(found.records, file.records);
  ASSERT_EQ(found.covers.size(), 2u);
  EXPECT_EQ(found.covers[1].first, 7u);
  EXPECT_EQ(found.covers[1].count, std::uint64_t{1} << 60);
  EXPECT_EQ(found.parts, file.parts);
  EXPECT_EQ(found.earlier, file.earlier);
  ASSERT_EQ(found.input.size(), 1u);
  EXPECT_EQ(found.input[0].bytes, file.input[0].bytes);
  EXPECT_EQ(found.input[0].modified_ns, -7);
  EXPECT_EQ(found.input[0].hash, 9u);
  require_same_data(file, "a", found, "b");
}

TEST_F(PartFileTest, AnyChangedByteIsSeen) {
  const Bytes good = bytes_of(example());
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= std::byte{1};
    expect_error(ErrorKind::bad_input, i < 8 ? "is not a part" : "is damaged", [&] { read(bad); });
    bad = good;
    bad.resize(i);
    expect_error(ErrorKind::bad_input, i < 8 ? "is not a part" : "is damaged", [&] { read(bad); });
  }
}

/// Returns the bytes with some that are changed.
Bytes changed(Bytes bytes, std::mt19937& random) {
  for (std::size_t change = 0; change <= random() % 4; ++change) {
    bytes[random() % bytes.size()] ^= std::byte(1 + random() % 255);
  }
  if (random() % 4 == 0) bytes.resize(random() % bytes.size());
  return bytes;
}

TEST_F(PartFileTest, AHundredThousandDamagedFilesAreRefused) {
  std::mt19937 random(3);
  const Bytes good = bytes_of(example());
  for (int round = 0; round < 100'000; ++round) {
    const Bytes bad = changed(good, random);
    if (bad == good) continue;
    EXPECT_THROW(part_file_in(bad, "bad.part"), Error);
  }
}

TEST_F(PartFileTest, ForgedFilesAreRefusedOrReadAsWhatTheySay) {
  std::mt19937 random(4);
  const Bytes good = bytes_of(example());
  for (int round = 0; round < 20'000; ++round) {
    Bytes bad = good;
    for (int change = 0; change < 2; ++change) bad[8 + random() % 250] = std::byte(random() % 128);
    try {
      bytes_of(part_file_in(with_hash(bad), "bad.part"));
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::bad_input || error.kind() == ErrorKind::usage)
          << error.what();
    }
  }
}

TEST_F(PartFileTest, SaysWhatIsWrong) {
  const Bytes good = bytes_of(example());
  expect_error(ErrorKind::usage, "has the format ooc.partial/9",
               [&] { read(with_text(good, "ooc.partial/2", "ooc.partial/9")); });
  expect_error(ErrorKind::usage, "has the format ooc.partial/1",
               [&] { read(with_text(good, "ooc.partial/2", "ooc.partial/1")); });
  expect_error(ErrorKind::bad_input, "is damaged",
               [&] { read(with_text(good, "\"5\"", "\"x\"")); });
  expect_error(ErrorKind::bad_input, "is damaged",
               [&] { read(with_text(good, "\"5\"", "\"9\"")); });
  expect_error(ErrorKind::input, "none.part", [&] { read_part_file(dir_.path() / "none.part"); });
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  PartFile file = example();
  file.about = deep;
  expect_error(ErrorKind::bad_input, "nested too deeply", [&] { bytes_of(file); });
  file.question = "no JSON";
  expect_error(ErrorKind::usage, "PartFile::question is not JSON", [&] { bytes_of(file); });
  file = PartFile{};
  expect_error(ErrorKind::usage, "a PartFile has no part", [&] { bytes_of(file); });
  file = example();
  const std::vector<RecordRange> others{{0, 6}};
  expect_error(ErrorKind::usage, "covers the records 0 to 6, the others 0 to 5, 7 to",
               [&] { add_part(file, file.records, others, saved("third")); });
}

TEST_F(PartFileTest, OfOtherDataOrQuestions) {
  const PartFile one = example();
  const auto refuse = [&](ErrorKind kind, const std::string& what, const PartFile& other) {
    expect_error(kind, what, [&] { require_same_data(one, "a.part", other, "b.part"); });
  };
  PartFile other = one;
  other.question = R"({ "above": 5 })";
  require_same_data(one, "a.part", other, "b.part");
  other.question = R"({"above":6})";
  refuse(ErrorKind::usage, "a.part and b.part: are parts of different questions", other);
  other = one;
  other.input[0].bytes = 5;
  refuse(ErrorKind::input_changed, "are parts of different data", other);
  other = one;
  other.input[0].hash = 5;
  refuse(ErrorKind::input_changed, "are parts of different data", other);
  other = one;
  other.records = 5;
  refuse(ErrorKind::input_changed, "are parts of different data", other);
  other = one;
  other.input[0].name = "another name, since it may be a copy";
  require_same_data(one, "a.part", other, "b.part");
  PartFile several = one, turned = one;
  several.input.push_back(several.input[0]);
  several.input[1].name = "/elsewhere/y";
  turned = several;
  std::swap(turned.input[0], turned.input[1]);
  expect_error(ErrorKind::input_changed, "are parts of different data",
               [&] { require_same_data(several, "a.part", turned, "b.part", true); });
  turned = several;
  turned.input[1].name = "y";
  require_same_data(several, "a.part", turned, "b.part");
  other = one;
  other.input[0].modified_ns = 5;
  refuse(ErrorKind::input_changed, "are parts of different data", other);
  require_same_data(one, "a.part", other, "b.part", true);
  other = one;
  other.earlier.clear();
  refuse(ErrorKind::usage, "a.part and b.part: are parts of different passes", other);
}

TEST_F(PartFileTest, FilesAreKnownByBytesAtManyPlaces) {
  std::string text(200'000, 'a');
  const Source source = open(dir_.write("x.u8", text));
  const auto identity = identity_of(source).front();
  EXPECT_EQ(identity.bytes, text.size());
  EXPECT_GT(identity.modified_ns, std::int64_t{1'700'000'000} * 1'000'000'000);
  text.back() = 'b';
  EXPECT_NE(identity_of(open(dir_.write("y.u8", text))).front().hash, identity.hash);
  text.back() = 'a', text[100'000] = 'b';  // in one of the pages between
  EXPECT_NE(identity_of(open(dir_.write("y.u8", text))).front().hash, identity.hash);
  text[100'000] = 'a', text.front() = 'b';
  EXPECT_NE(identity_of(open(dir_.write("y.u8", text))).front().hash, identity.hash);
  EXPECT_EQ(identity_of(open(dir_.write("z.u8", ""))).front().bytes, 0u);
}

}  // namespace
}  // namespace ooc::detail
