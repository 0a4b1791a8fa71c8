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

struct Frame {
  std::uint64_t stored = 0, decoded = 0;  // bytes
  bool is_skippable = false;              // it has no content for this format
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
  /// Returns up to a page of the file; fewer bytes at its end. Valid until the next call.
  std::string_view bytes_at(std::uint64_t offset, std::size_t bytes) {
    const std::uint64_t left = file_.size() - std::min(offset, file_.size());
    bytes = std::min<std::uint64_t>(bytes, left);
    if (offset < begin_ || offset - begin_ + bytes > page_.size()) {  // short frames share a page
      page_.resize(std::min<std::uint64_t>(page_bytes, left));
      begin_ = offset;
      if (!page_.empty()) read_exactly(file_, offset, std::as_writable_bytes(std::span(page_)));
    }
    return std::string_view(page_).substr(offset - begin_, bytes);
  }

  /// Returns a number in the file; nothing beyond its end.
  std::optional<std::uint64_t> number_at(std::uint64_t offset, std::size_t bytes) {
    const std::string_view text = bytes_at(offset, bytes);
    if (text.size() < bytes) return {};
    return number_in(text, 0, bytes);
  }

 private:
  const File& file_;
  std::string page_;  // of the file, from `begin_` on
  std::uint64_t begin_ = 0;
};

/// RFC 8878, and the table of frames at the end of the seekable format.
class ZstdWalk final : public FrameWalk {
 public:
  explicit ZstdWalk(const File& file) : FrameWalk(file) { read_table(file.size()); }

  std::optional<Frame> frame_at(std::uint64_t offset) override {
    if (next_ < table_.size() && offset == next_offset_) {
      next_offset_ += table_[next_].stored;
      const Frame& frame = table_[next_++];
      return frame.decoded <= most_frame_bytes ? std::optional(frame) : std::nullopt;
    }
    constexpr std::uint64_t magic = 0xfd2f'b528;
    const auto begin = number_at(offset, 4);
    if (begin && (*begin & ~0xfull) == skippable) {
      const auto bytes = number_at(offset + 4, 4);
      return bytes ? std::optional(Frame{8 + *bytes, 0, true}) : std::nullopt;
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

 private:
  /// Reads the table of frames if there is one: a skippable frame of entries, and a footer.
  void read_table(std::uint64_t file_bytes) {
    constexpr std::uint64_t footer_bytes = 9, header_bytes = 8, most_entries = 1'000'000;
    constexpr std::uint64_t magic = 0x8f92'eab1, checksum_flag = 0x80;
    if (file_bytes < footer_bytes + header_bytes) return;
    const std::string_view footer = bytes_at(file_bytes - footer_bytes, footer_bytes);
    if (number_in(footer, 5, 4) != magic) return;
    const std::uint64_t entries = number_in(footer, 0, 4);
    const std::uint64_t entry_bytes = (number_in(footer, 4, 1) & checksum_flag) != 0 ? 12 : 8;
    const std::uint64_t table_bytes = entries * entry_bytes + footer_bytes;
    if (entries > most_entries || table_bytes + header_bytes > file_bytes) return;
    std::uint64_t place = file_bytes - table_bytes;
    if (number_at(place - header_bytes, 4) != skippable + 0xe) return;
    if (number_at(place - 4, 4) != table_bytes) return;
    for (std::uint64_t i = 0; i < entries; ++i, place += entry_bytes) {
      table_.push_back({number_at(place, 4).value_or(0), number_at(place + 4, 4).value_or(0)});
    }
  }

  static constexpr std::uint64_t skippable = 0x184d'2a50;  // the lowest of 16 magic numbers
  std::vector<Frame> table_;
  std::size_t next_ = 0;           // in the table
  std::uint64_t next_offset_ = 0;  // its place in the file
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

/// Makes pieces of frames. Short frames that follow one another are one piece, so that pieces are
/// as long as each other if the frames are.
class Pieces {
 public:
  /// False if the frame makes a piece that would not be decoded, or that takes more memory than its
  /// content: only one that is decoded from beginning to end is checked then.
  bool add(const Frame& frame, std::uint64_t offset) {
    const std::uint64_t length = end_ - begin_;
    if (frame.is_skippable) {
      is_open_ = false;
      return pieces_.empty() || length != 0;
    }
    const bool is_short =
        length < least_piece_bytes && length + frame.decoded <= 2 * least_piece_bytes;
    if (!is_open_ || !(is_short || length == 0 || frame.decoded == 0)) {
      begin_ = end_;
      pieces_.push_back({.end = end_, .offset = offset, .bytes = 0});
      is_open_ = true;
    }
    end_ += frame.decoded;
    EncodedArray::Piece& piece = pieces_.back();
    piece.end = end_;
    piece.bytes += frame.stored;
    const std::uint64_t decoded = end_ - begin_;
    return piece.bytes <= decoded + decoded / 8 + least_piece_bytes;
  }

  /// Returns them; nothing if the last one is empty.
  std::optional<std::vector<EncodedArray::Piece>> take() {
    return begin_ == end_ ? std::nullopt : std::optional(std::move(pieces_));
  }

 private:
  std::vector<EncodedArray::Piece> pieces_;
  std::uint64_t begin_ = 0, end_ = 0;  // of the last piece in the decoded bytes
  bool is_open_ = false;               // the next frame may belong to it
};

/// Returns the frames of a file as pieces. Nothing if one of them is not understood.
std::optional<std::vector<EncodedArray::Piece>> pieces_in(const File& file, FrameWalk& walk) {
  Pieces pieces;
  for (std::uint64_t offset = 0; offset < file.size();) {
    const std::optional<Frame> frame = walk.frame_at(offset);
    if (!frame || frame->stored == 0 || frame->stored > file.size() - offset) return {};
    if (!pieces.add(*frame, offset)) return {};
    offset += frame->stored;
  }
  return pieces.take();
}

}  // namespace

std::shared_ptr<const EncodedArray> find_frames(File& file, Compression compression) {
  if (compression == Compression::lz4) return nullptr;  // its frames need not say how long they are
  if (file.remote() != nullptr) return nullptr;  // a server would be asked once for each frame
  std::unique_ptr<FrameWalk> walk;
  if (compression == Compression::zstd) {
    walk = std::make_unique<ZstdWalk>(file);
  } else {
    walk = std::make_unique<GzipWalk>(file);
  }
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
