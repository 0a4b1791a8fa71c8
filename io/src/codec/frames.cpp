#include <ooc/detail/base/units.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/little_endian.hpp"
#include "codec/compression.hpp"

namespace ooc::detail {
namespace {

constexpr std::uint64_t most_frame_bytes = 64 * MiB;
constexpr std::uint64_t least_piece_bytes = 1 * MiB;  // shorter frames are decoded together

/// A frame, with what follows it up to the next one.
struct Frame {
  std::uint64_t stored = 0, decoded = 0;  // bytes
};

/// Walks over the frames of a file, whose lengths are in their headers.
class FrameWalk {
 public:
  explicit FrameWalk(const File& file) : file_(file) {}
  virtual ~FrameWalk() = default;
  FrameWalk(const FrameWalk&) = delete;
  FrameWalk& operator=(const FrameWalk&) = delete;

  /// Returns the frame at `offset`. Nothing if its lengths are not known, or if it is damaged: then
  /// the bytes are decoded one after another, up to the damage.
  virtual std::optional<Frame> frame_at(std::uint64_t offset) = 0;

 protected:
  /// Returns bytes of the file; fewer at its end. Valid until the next call.
  std::string_view bytes_at(std::uint64_t offset, std::size_t bytes) {
    const std::uint64_t left = file_.size() - std::min(offset, file_.size());
    text_.resize(std::min<std::uint64_t>(bytes, left));
    if (!text_.empty()) read_exactly(file_, offset, std::as_writable_bytes(std::span(text_)));
    return text_;
  }

  /// Returns a number in the file; nothing beyond its end.
  std::optional<std::uint64_t> number_at(std::uint64_t offset, std::size_t bytes) {
    const std::string_view text = bytes_at(offset, bytes);
    if (text.size() < bytes) return {};
    return number_in(text, 0, bytes);
  }

 private:
  const File& file_;
  std::string text_;
};

/// RFC 8878.
class ZstdWalk final : public FrameWalk {
 public:
  using FrameWalk::FrameWalk;

  std::optional<Frame> frame_at(std::uint64_t offset) override {
    constexpr std::uint64_t skippable = 0x184d'2a50, magic = 0xfd2f'b528;
    const auto begin = number_at(offset, 4);
    if (begin && (*begin & ~0xfull) == skippable) {
      const auto bytes = number_at(offset + 4, 4);
      return bytes ? std::optional(Frame{8 + *bytes, 0}) : std::nullopt;
    }
    if (begin != magic) return {};
    constexpr std::array<std::size_t, 4> id_bytes{0, 1, 2, 4}, size_bytes{0, 2, 4, 8};
    constexpr std::size_t longest_header = 14;  // behind the magic number
    const std::string_view header = bytes_at(offset + 4, longest_header);
    if (header.empty()) return {};
    const std::uint64_t flags = number_in(header, 0, 1);
    const bool is_single_segment = (flags & 0x20) != 0, has_checksum = (flags & 4) != 0;
    const std::size_t place = 1 + (is_single_segment ? 0 : 1) + id_bytes[flags & 3];
    const std::size_t width = flags < 0x40 && is_single_segment ? 1 : size_bytes[flags >> 6];
    if (width == 0 || header.size() < place + width) return {};
    Frame frame{.decoded = number_in(header, place, width) + (width == 2 ? 256 : 0)};
    if (frame.decoded > most_frame_bytes) return {};
    std::uint64_t end = offset + 4 + place + width;
    for (bool is_last = false; !is_last;) {
      const auto block = number_at(end, 3);
      constexpr std::uint64_t repeated = 1, reserved = 3;
      if (!block || (*block >> 1 & 3) == reserved) return {};
      is_last = (*block & 1) != 0;
      end += 3 + ((*block >> 1 & 3) == repeated ? 1 : *block >> 3);
    }
    frame.stored = end + (has_checksum ? 4 : 0) - offset;
    return frame;
  }
};

/// Members of gzip that say how long they are, as bgzip and samtools write them.
class GzipWalk final : public FrameWalk {
 public:
  using FrameWalk::FrameWalk;

  std::optional<Frame> frame_at(std::uint64_t offset) override {
    constexpr std::size_t header_bytes = 18, least_bytes = 26;
    const std::string_view header = bytes_at(offset, header_bytes);
    constexpr std::string_view begin{"\x1f\x8b\x08\x04"}, field{"\x06\0BC\x02\0", 6};
    if (header.size() < header_bytes || !header.starts_with(begin)) return {};
    if (header.substr(10, field.size()) != field) return {};
    const std::uint64_t stored = number_in(header, 16, 2) + 1;
    const auto decoded = number_at(offset + stored - 4, 4);
    if (stored < least_bytes || !decoded || *decoded > most_frame_bytes) return {};
    return Frame{stored, *decoded};
  }
};

/// Returns the frames as pieces. Short frames that follow one another are one piece, so that pieces
/// are as long as each other if the frames are. Nothing if a frame is not understood.
std::optional<std::vector<EncodedArray::Piece>> pieces_in(const File& file, FrameWalk& walk) {
  std::vector<EncodedArray::Piece> pieces;
  std::uint64_t begin = 0, end = 0;  // of the last piece in the decoded bytes
  for (std::uint64_t offset = 0; offset < file.size();) {
    const std::optional<Frame> frame = walk.frame_at(offset);
    if (!frame || frame->stored > file.size() - offset) return {};
    const std::uint64_t length = end - begin;
    const bool is_short =
        length < least_piece_bytes && length + frame->decoded <= 2 * least_piece_bytes;
    if (pieces.empty() || !(is_short || length == 0 || frame->decoded == 0)) {
      begin = end;
      pieces.push_back({.end = end, .offset = offset, .bytes = 0});
    }
    end += frame->decoded;
    pieces.back().end = end;
    pieces.back().bytes += frame->stored;
    offset += frame->stored;
  }
  if (end == 0) pieces.clear();
  return pieces;
}

}  // namespace

std::shared_ptr<const EncodedArray> find_frames(File& file, Compression compression) {
  ZstdWalk zstd(file);
  GzipWalk gzip(file);
  FrameWalk* const walk = compression == Compression::zstd   ? static_cast<FrameWalk*>(&zstd)
                          : compression == Compression::gzip ? &gzip
                                                             : nullptr;
  if (walk == nullptr) return nullptr;
  auto pieces = pieces_in(file, *walk);
  if (!pieces) return nullptr;
  EncodedArray::Encoding encoding;
  encoding.chain.push_back(compression == Compression::zstd ? zstd_codec() : gzip_codec());
  std::string name = file.path().string();
  std::vector<File> files;
  files.push_back(std::move(file));
  return std::make_shared<const EncodedArray>(std::move(files), std::move(*pieces),
                                              std::move(encoding), std::move(name));
}

}  // namespace ooc::detail
