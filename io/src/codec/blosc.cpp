#include <ooc/detail/base/units.hpp>
#include <ooc/detail/codec/codec.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/little_endian.hpp"
#include "codec/unshuffle.hpp"

// A frame of Blosc 1 is a header, the places of the blocks, and the blocks. A block is one stream,
// or one for each byte of an element; a stream is its size (4 bytes) and its bytes, which are as
// they were if there are as many. All numbers are little-endian.

namespace ooc::detail {

namespace {

constexpr std::size_t blosc_header_bytes = 16;
constexpr std::size_t blosc_number_bytes = 4;

Error bad_frame(const std::string& problem) {
  return {ErrorKind::bad_input, "blosc: " + problem};
}

/// Returns the number at a place. Throws Error(bad_input) if the frame ends before its end.
std::size_t number_at(std::span<const std::byte> frame, std::size_t place) {
  if (place > frame.size() || frame.size() - place < blosc_number_bytes) {
    throw bad_frame("ends within a number");
  }
  return number_in(frame, place, blosc_number_bytes);
}

/// Returns the codec of streams by its number in a header.
std::shared_ptr<const Codec> codec_of_streams(unsigned number) {
  enum : unsigned { blosclz, lz4, snappy, zlib, zstd };
  switch (number) {
    case blosclz: throw bad_frame("blocks compressed by blosclz, which is not supported");
    case lz4: return lz4_codec();
    case snappy: throw bad_frame("blocks compressed by snappy, which is not supported");
    case zlib: return zlib_codec();
    case zstd: return zstd_codec();
    default: throw bad_frame("its codec " + std::to_string(number) + " is not known");
  }
}

/// Decodes one frame.
class BloscFrame {
 public:
  BloscFrame(std::span<const std::byte> frame, std::size_t decoded_bytes) : frame_(frame) {
    constexpr unsigned version = 2;
    if (frame.size() < blosc_header_bytes) throw bad_frame("is shorter than its header");
    const auto byte_at = [&](std::size_t place) { return std::to_integer<unsigned>(frame[place]); };
    if (byte_at(0) != version) {
      throw bad_frame("is of version " + std::to_string(byte_at(0)) + ", not 2");
    }
    flags_ = byte_at(2);
    element_bytes_ = byte_at(3);
    const std::size_t bytes = number_at(frame, 4);
    block_bytes_ = number_at(frame, 8);
    const std::size_t frame_bytes = number_at(frame, 12);
    if (bytes != decoded_bytes) {
      throw bad_frame("is of " + std::to_string(bytes) + " bytes, not " +
                      std::to_string(decoded_bytes));
    }
    if (frame_bytes != frame.size()) {
      throw bad_frame("has " + std::to_string(frame.size()) + " bytes, its header says " +
                      std::to_string(frame_bytes));
    }
    if (block_bytes_ == 0 || element_bytes_ == 0) throw bad_frame("has blocks of no bytes");
  }

  void decode(std::span<std::byte> decoded) {
    if (has(is_copy)) {
      const auto bytes = frame_.subspan(blosc_header_bytes);
      if (bytes.size() != decoded.size()) throw bad_frame("decodes to more or fewer bytes");
      if (!bytes.empty()) std::memcpy(decoded.data(), bytes.data(), bytes.size());
      return;
    }
    constexpr unsigned codec_shift = 5;  // the first bits of the flags
    codec_ = codec_of_streams(flags_ >> codec_shift);
    std::size_t place = blosc_header_bytes;  // of the place of the next block
    for (; !decoded.empty(); place += blosc_number_bytes) {
      const std::size_t bytes = std::min(block_bytes_, decoded.size());
      decode_block(number_at(frame_, place), decoded.first(bytes));
      decoded = decoded.subspan(bytes);
    }
  }

 private:
  enum Flag : unsigned { bytes_shuffled = 1, is_copy = 2, bits_shuffled = 4, is_not_split = 16 };

  bool has(Flag flag) const { return (flags_ & flag) != 0; }

  void decode_block(std::size_t place, std::span<std::byte> block) const {
    const bool shuffles_bytes = has(bytes_shuffled) && element_bytes_ > 1;
    const bool shuffles_bits = !shuffles_bytes && has(bits_shuffled);
    if (!shuffles_bytes && !shuffles_bits) return decode_streams(place, block);
    thread_local std::vector<std::byte> rooms;  // used again and again
    const std::size_t count = shuffles_bits ? 2 : 1;
    if (rooms.size() < count * block.size()) rooms.resize(count * block.size());
    const auto shuffled = std::span(rooms).first(block.size());
    decode_streams(place, shuffled);
    if (shuffles_bytes) {
      unshuffle_bytes(shuffled, element_bytes_, block);
    } else {
      unshuffle_bits(shuffled, element_bytes_, block,
                     std::span(rooms).subspan(block.size(), block.size()));
    }
    constexpr std::size_t large_bytes = 32 * MiB;
    if (rooms.size() > large_bytes) rooms = {};
  }

  void decode_streams(std::size_t place, std::span<std::byte> block) const {
    constexpr std::size_t most_streams = 16, fewest_elements = 128;
    const bool is_split = !has(is_not_split) && block.size() == block_bytes_ &&
                          element_bytes_ <= most_streams &&
                          block.size() / element_bytes_ >= fewest_elements;
    const std::size_t streams = is_split ? element_bytes_ : 1;
    if (block.size() % streams != 0) throw bad_frame("has streams of different sizes");
    const std::size_t decoded_bytes = block.size() / streams;
    for (; !block.empty(); block = block.subspan(decoded_bytes)) {
      const std::size_t bytes = number_at(frame_, place);
      place += blosc_number_bytes;
      if (bytes > frame_.size() - place) throw bad_frame("ends within a stream");
      const auto stream = frame_.subspan(place, bytes);
      if (bytes == decoded_bytes) {
        std::memcpy(block.data(), stream.data(), bytes);
      } else {
        codec_->decode(stream, block.first(decoded_bytes));
      }
      place += bytes;
    }
  }

  std::span<const std::byte> frame_;
  unsigned flags_ = 0;
  std::size_t element_bytes_ = 0, block_bytes_ = 0;
  std::shared_ptr<const Codec> codec_{};
};

class BloscCodec final : public Codec {
 public:
  std::string_view name() const noexcept override { return "blosc"; }

  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    BloscFrame(encoded, decoded.size()).decode(decoded);
  }
};

}  // namespace

std::shared_ptr<const Codec> blosc_codec() {
  return std::make_shared<const BloscCodec>();
}

}  // namespace ooc::detail
