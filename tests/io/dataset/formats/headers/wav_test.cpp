// Tests WAV, RF64 and BW64 files, and such files that are damaged or hostile. Files are made byte
// by byte.

#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "io/little_endian.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::little;

std::string riff_chunk(const std::string& name, const std::string& content,
                       std::optional<std::uint64_t> bytes = {}) {
  return name + little(bytes.value_or(content.size()), 4) + content +
         std::string(content.size() % 2, '\0');
}

std::string fmt_chunk(std::uint64_t kind, std::uint64_t channels, std::uint64_t bits) {
  const std::uint64_t frame_bytes = channels * bits / 8;
  return riff_chunk("fmt ", little(kind, 2) + little(channels, 2) + little(48'000, 4) +
                                little(48'000 * frame_bytes, 4) + little(frame_bytes, 2) +
                                little(bits, 2));
}

std::string extensible_fmt(std::uint64_t kind, std::uint64_t bits, std::uint64_t valid_bits) {
  return riff_chunk("fmt ", little(0xfffe, 2) + little(1, 2) + little(48'000, 4) +
                                little(48'000 * bits / 8, 4) + little(bits / 8, 2) +
                                little(bits, 2) + little(22, 2) + little(valid_bits, 2) +
                                little(4, 4) + little(kind, 2) +
                                std::string("\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71", 14));
}

std::string riff(const std::string& chunks, std::optional<std::uint64_t> bytes = {}) {
  return "RIFF" + little(bytes.value_or(chunks.size() + 4), 4) + "WAVE" + chunks;
}

std::string rf64(const std::string& chunks, std::uint64_t data_bytes,
                 const std::string& name = "RF64") {
  const std::uint64_t bytes = 4 + 36 + chunks.size();
  return name + little(0xffff'ffff, 4) + "WAVE" +
         riff_chunk("ds64", little(bytes, 8) + little(data_bytes, 8) + little(0, 12)) + chunks;
}

class WavTest : public testing::Test {
 protected:
  Source opened(const std::string& file, const Format& fmt_chunk = {}) {
    return open(directory_.write("a.wav", file), fmt_chunk);
  }

  void expect_refused(const std::string& problem, const std::string& file) {
    SCOPED_TRACE(problem);
    expect_error(ErrorKind::bad_input, problem, [&] { opened(file); });
  }

  test::TempDir directory_;
};

TEST_F(WavTest, HasFramesOfChannels) {
  const Source source =
      opened(riff(fmt_chunk(1, 2, 16) + riff_chunk("data", std::string(12, '\1'))));
  EXPECT_EQ(source.type(), parse_dtype("<i2"));
  EXPECT_EQ(std::vector(source.shape().begin(), source.shape().end()),
            (std::vector<std::uint64_t>{3, 2}));
  EXPECT_EQ(storage_of(source).front().offset, 44u);
  EXPECT_TRUE(source.has_format(FileFormat::wav));
}

TEST_F(WavTest, TypesThatAreRead) {
  struct Known {
    std::uint64_t kind, bits;
    const char* code;
  };
  for (const auto& [kind, bits, code] :
       {Known{1, 8, "|u1"}, Known{1, 16, "<i2"}, Known{1, 32, "<i4"}, Known{3, 32, "<f4"},
        Known{3, 64, "<f8"}}) {
    const std::string data = riff_chunk("data", std::string(16, '\1'));
    EXPECT_EQ(code_of(*opened(riff(fmt_chunk(kind, 1, bits) + data)).type()), code);
    EXPECT_EQ(code_of(*opened(riff(extensible_fmt(kind, bits, bits) + data)).type()), code);
  }
  for (const auto& [kind, bits] : {std::pair{1, 24}, {1, 64}, {1, 12}, {3, 16}, {6, 8}, {2, 4}}) {
    const auto wide = [](int number) { return static_cast<std::uint64_t>(number); };
    expect_refused(
        "samples of " + std::to_string(bits) + " bits",
        riff(fmt_chunk(wide(kind), 1, wide(bits)) + riff_chunk("data", std::string(24, '\1'))));
  }
  expect_refused("samples of 24 bits",
                 riff(extensible_fmt(1, 32, 24) + riff_chunk("data", std::string(24, '\1'))));
}

TEST_F(WavTest, OtherChunksAreSkipped) {
  const std::string data = riff_chunk("data", std::string(5, '\1'));
  const std::string file = riff(riff_chunk("LIST", "abc") + fmt_chunk(1, 1, 8) +
                                riff_chunk("fact", "1234") + data + riff_chunk("ID3 ", "text"));
  const Source source = opened(file);
  EXPECT_EQ(source.elements(), 5u);
  EXPECT_EQ(storage_of(source).front().offset, file.find("data") + 8);
  expect_refused("the chunk data", riff(fmt_chunk(1, 1, 8)));
  expect_refused("the chunk fmt before", riff(data));
  expect_refused("the chunk fmt once", riff(fmt_chunk(1, 1, 8) + fmt_chunk(1, 1, 8) + data));
  expect_refused("the first million bytes",
                 riff(fmt_chunk(1, 1, 8) + riff_chunk("JUNK", "", 0xffff'fff0) + data));
  expect_refused("of 16 bytes and more", riff(riff_chunk("fmt ", std::string(14, '\1')) + data));
}

TEST_F(WavTest, SizesMayHave64Bits) {
  const std::string chunks = fmt_chunk(1, 1, 8) + riff_chunk("data", "abcd", 0xffff'ffff);
  EXPECT_EQ(opened(rf64(chunks, 4)).elements(), 4u);
  EXPECT_EQ(opened(rf64(chunks, 4, "BW64")).elements(), 4u);
  expect_refused("is truncated", rf64(chunks, 5));
  expect_refused("is truncated", rf64(chunks, ~0ull - 100));
  expect_refused("more data than a file can hold", rf64(chunks, ~0ull));
  expect_refused(
      "the chunk ds64 in RF64",
      riff(chunks.substr(0, 24) + riff_chunk("ds64", std::string(28, '\0')) + chunks.substr(24)));
}

TEST_F(WavTest, SizesThatContradictTheFileAreRefused) {
  const std::string start = fmt_chunk(1, 2, 16);
  expect_refused("is truncated", riff(start + riff_chunk("data", std::string(8, '\1'), 12)));
  expect_refused("whole frames", riff(start + riff_chunk("data", std::string(10, '\1'))));
  expect_refused("a file of the size that it says",
                 riff(start + riff_chunk("data", std::string(8, '\1')), 100));
  expect_refused("a file of the size that it says",
                 riff(start + riff_chunk("data", std::string(8, '\1'))) + "more");
  expect_refused("frames of the size", riff(fmt_chunk(1, 0, 16) + riff_chunk("data", "")));
  std::string other = start;
  other.replace(20, 2, little(2, 2));  // the size of a frame
  expect_refused("frames of the size", riff(other + riff_chunk("data", std::string(8, '\1'))));
  expect_refused("is truncated", riff(start + riff_chunk("data", "", 0xffff'fffc), 0xffff'ffff));
}

TEST_F(WavTest, NoSamplesAreLeftOut) {
  const std::string fmt = fmt_chunk(1, 1, 16), samples(48, '\1');
  for (const std::uint64_t said : {0, 8}) {  // a size that was never written, or is wrong
    expect_error(ErrorKind::bad_input, "chunks without samples behind the data",
                 [&] { opened(riff(fmt + riff_chunk("data", samples, said))); });
  }
  expect_error(ErrorKind::bad_input, "chunks without samples behind the data", [&] {
    opened(riff(fmt + riff_chunk("data", samples) + riff_chunk("data", samples)));
  });
  EXPECT_EQ(opened(riff(fmt + riff_chunk("data", samples) + riff_chunk("LIST", "abc"))).elements(),
            24u);
}

TEST_F(WavTest, FilesNamedSoAreNoOthers) {
  std::string other = riff(fmt_chunk(1, 1, 16) + riff_chunk("data", "abcd"));
  other.replace(0, 4, "RIFX");
  expect_error(ErrorKind::bad_input, "expected RIFF, RF64 or BW64", [&] { opened(other); });
}

TEST_F(WavTest, OtherFilesAreRaw) {
  const std::string file = riff(fmt_chunk(1, 1, 8) + riff_chunk("data", "abcd"));
  EXPECT_EQ(opened(file, {.type = parse_dtype("u1"), .offset = 44}).elements(), 4u);
  EXPECT_EQ(opened(file, {.file = FileFormat::raw}).elements(), 48u);
  EXPECT_EQ(open(directory_.write("a.u8", "RIFF" + little(40, 4) + "WEBP" + std::string(36, '\1')))
                .elements(),
            48u);
}

}  // namespace
}  // namespace ooc::detail
