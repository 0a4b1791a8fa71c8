#include <ooc/detail/base/compressed_name.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/dtype.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/little_endian.hpp"
#include "dataset/formats/headers/header_rules.hpp"

namespace ooc::detail {
namespace {

using namespace std::string_view_literals;

// A WAV file consists of chunks: four letters, the size of what follows (four bytes), and that,
// padded to an even size. RF64 and BW64 files have their sizes of 64 bits in the chunk ds64.
constexpr std::size_t chunk_header_bytes = 8, riff_header_bytes = 12;
constexpr std::size_t longest_wav_header = 1'000'000;  // what is before the data
constexpr std::uint64_t size_in_ds64 = 0xffff'ffff;
constexpr std::uint64_t pcm = 1, ieee_float = 3, extensible = 0xfffe;
// A subformat is the number of a format and these bytes.
constexpr auto subformat = "\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71"sv;

bool is_large_wav(std::string_view text) {
  return text.starts_with("RF64"sv) || text.starts_with("BW64"sv);
}

bool begins_like_wav(Beginning& file) {
  const std::string_view text = file.first_text(riff_header_bytes + 4);
  if (text.size() < riff_header_bytes + 4 || text.substr(8, 4) != "WAVE"sv) return false;
  return text.starts_with("RIFF"sv) || (is_large_wav(text) && text.substr(12) == "ds64"sv);
}

bool is_wav(Beginning& file, const Format& format) {
  if (format.offset != 0) return false;
  return begins_like_wav(file) || ending_of_data(file.path()) == ".wav";
}

/// The samples of a file.
struct WavFormat {
  std::uint64_t kind, channels, frame_bytes, bits, valid_bits;
};

/// Reads the chunks up to the data.
class WavReader {
 public:
  explicit WavReader(Beginning& file) : file_(file) {}

  StoredArray array() {
    if (!begins_like_wav(file_)) fail("RIFF, RF64 or BW64, and WAVE");
    const std::uint64_t small_size = number_in(text(0, riff_header_bytes), 4, 4);
    std::size_t at = riff_header_bytes;
    for (;;) {
      const std::string chunk(text(at, chunk_header_bytes));
      const std::uint64_t bytes = number_in(chunk, 4, 4);
      at += chunk_header_bytes;
      if (chunk.starts_with("data"sv)) return array_at(at, bytes, small_size);
      if (bytes > longest_wav_header) fail("the chunk data in the first million bytes");
      if (chunk.starts_with("ds64"sv)) take_sizes(text(at, bytes));
      if (chunk.starts_with("fmt "sv)) take_format(text(at, bytes));
      at += bytes + bytes % 2;
    }
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw broken_header(file_, wav_format, expected);
  }

  std::string_view text(std::size_t offset, std::size_t bytes) {
    if (offset + bytes > longest_wav_header) fail("the chunk data in the first million bytes");
    const std::string_view all = file_.first_text(offset + bytes);
    if (all.size() < offset + bytes) fail("the chunk data, behind the chunk fmt");
    return all.substr(offset);
  }

  void take_sizes(std::string_view chunk) {
    constexpr std::size_t least_bytes = 24;
    if (has_sizes_ || chunk.size() < least_bytes) fail("the chunk ds64 once, with its sizes");
    has_sizes_ = true;
    riff_bytes_ = number_in(chunk, 0, 8);
    data_bytes_ = number_in(chunk, 8, 8);
  }

  void take_format(std::string_view chunk) {
    constexpr std::size_t least_bytes = 16, extensible_bytes = 40;
    if (format_ || chunk.size() < least_bytes) fail("the chunk fmt once, of 16 bytes and more");
    format_ = WavFormat{.kind = number_in(chunk, 0, 2),
                        .channels = number_in(chunk, 2, 2),
                        .frame_bytes = number_in(chunk, 12, 2),
                        .bits = number_in(chunk, 14, 2),
                        .valid_bits = number_in(chunk, 14, 2)};
    if (format_->kind != extensible) return;
    if (chunk.size() < extensible_bytes) fail("a chunk fmt of 40 bytes");
    format_->valid_bits = number_in(chunk, 18, 2);
    if (chunk.substr(26, subformat.size()) == subformat) format_->kind = number_in(chunk, 24, 2);
  }

  /// Returns the type of the samples; empty if it is none that is read.
  std::optional<ElementType> element() const {
    if (format_->valid_bits != format_->bits) return {};
    const bool is_float = format_->kind == ieee_float;
    if (format_->kind != pcm && !is_float) return {};
    switch (format_->bits) {
      case 8: return is_float ? std::nullopt : std::optional(ElementType::u1);
      case 16: return is_float ? std::nullopt : std::optional(ElementType::i2);
      case 32: return is_float ? ElementType::f4 : ElementType::i4;
      case 64: return is_float ? std::optional(ElementType::f8) : std::nullopt;
      default: return {};
    }
  }

  StoredArray array_at(std::size_t offset, std::uint64_t data_bytes, std::uint64_t riff_bytes) {
    if (!format_) fail("the chunk fmt before the chunk data");
    if (is_large_wav(file_.first_text(4)) != has_sizes_) fail("the chunk ds64 in RF64 and BW64");
    if (has_sizes_ && data_bytes == size_in_ds64) data_bytes = data_bytes_;
    if (has_sizes_ && riff_bytes == size_in_ds64) riff_bytes = riff_bytes_;
    const auto type = element();
    if (!type) {
      return {.type = {},
              .type_reason = "from its header",
              .why_not = "samples of " + std::to_string(format_->valid_bits) +
                         " bits in the format " + std::to_string(format_->kind),
              .hint = "save them as .npy: numpy.save(\"x.npy\", soundfile.read(\"" +
                      file_.path().filename().string() + "\", dtype=\"int32\")[0])"};
    }
    const std::uint64_t frame_bytes = format_->channels * size_of(*type);
    if (format_->channels == 0 || frame_bytes != format_->frame_bytes) {
      fail("frames of the size that channels and bits say");
    }
    if (data_bytes % frame_bytes != 0) fail("data of whole frames");
    StoredArray array = array_behind(file_, stored_type(*type, false),
                                     {data_bytes / frame_bytes, format_->channels}, offset);
    require_riff_end(array.offset + array.bytes, riff_bytes);
    if (file_.file() != nullptr && file_.file()->buffered() >= 0) {
      require_chunks_behind(array.offset + array.bytes + array.bytes % 2);
    }
    return array;
  }

  /// Requires that chunks, none of which has data, follow up to the end of the file: a size that
  /// was never written, or is wrong, would leave out samples.
  void require_chunks_behind(std::uint64_t at) {
    const std::uint64_t end = file_.file()->size();
    while (at < end) {
      std::array<char, chunk_header_bytes> header{};
      if (end - at < header.size()) fail("chunks behind the data");
      read_exactly(*file_.file(), at, std::as_writable_bytes(std::span(header)));
      const std::string_view chunk(header.data(), header.size());
      const std::uint64_t bytes = number_in(chunk, 4, 4);
      if (chunk.starts_with("data"sv) || bytes > end - at - header.size()) {
        fail("chunks without samples behind the data");
      }
      at += header.size() + bytes + bytes % 2;
    }
  }

  /// Requires that the file ends where its first size says, behind the data.
  void require_riff_end(std::uint64_t data_end, std::uint64_t riff_bytes) const {
    if (!file_.bytes()) return;
    const std::uint64_t end = *file_.bytes(), said = riff_bytes + chunk_header_bytes;
    const bool is_there = said >= riff_bytes && (end == said || end - 1 == said);
    if (!is_there || said < data_end) {
      fail("a file of the size that it says, " + std::to_string(riff_bytes) + " bytes and 8");
    }
  }

  Beginning& file_;
  std::optional<WavFormat> format_{};
  std::uint64_t riff_bytes_ = 0, data_bytes_ = 0;  // of 64 bits
  bool has_sizes_ = false;
};

std::vector<StoredArray> list_wav(Beginning& file, const Format&) {
  return {WavReader(file).array()};
}

}  // namespace

const FormatParser wav_format{.format = FileFormat::wav,
                              .name = "wav",
                              .title = "WAV",
                              .recognise = is_wav,
                              .list = list_wav};

}  // namespace ooc::detail
