#include <ooc/detail/codec/codec.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "codec/unshuffle.hpp"

namespace ooc::detail {

namespace {

/// Takes big-endian numbers and bytes from the front of encoded ones.
class FrontReader {
 public:
  FrontReader(std::span<const std::byte> bytes, const std::string& codec)
      : bytes_(bytes), codec_(codec) {}

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size()) fail("ends within a block");
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  std::uint64_t number(std::size_t bytes) {
    std::uint64_t number = 0;
    for (const std::byte byte : take(bytes)) number = number << 8 | std::to_integer<unsigned>(byte);
    return number;
  }

  bool is_empty() const noexcept { return bytes_.empty(); }

  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ErrorKind::bad_input, codec_ + ": " + problem);
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& codec_;
};

/// Blocks of LZ4 behind the size that all decode to and that of a block. Each block has its stored
/// size in front. The bits of blocks may be shuffled.
class Lz4BlocksCodec final : public Codec {
 public:
  /// `element_bytes`: of elements whose bits are shuffled; 0: none are.
  explicit Lz4BlocksCodec(std::size_t element_bytes)
      : element_bytes_(element_bytes),
        name_(element_bytes == 0 ? "lz4 blocks" : "bitshuffle " + std::to_string(element_bytes)) {}

  std::string_view name() const noexcept override { return name_; }

  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    constexpr std::size_t long_bytes = 8, short_bytes = 4;
    FrontReader stored(encoded, name_);
    if (const std::uint64_t all = stored.number(long_bytes); all != decoded.size()) {
      stored.fail("is of " + std::to_string(all) + " bytes, not " + std::to_string(decoded.size()));
    }
    const std::size_t group_bytes = std::max<std::size_t>(8 * element_bytes_, 1);
    const std::uint64_t block_bytes = stored.number(short_bytes);
    if (block_bytes == 0 || block_bytes % group_bytes != 0) stored.fail("has blocks of no length");
    while (decoded.size() >= group_bytes) {
      const std::uint64_t left = decoded.size() - decoded.size() % group_bytes;
      const auto block = decoded.first(std::min(block_bytes, left));
      decode_block(stored.take(stored.number(short_bytes)), block);
      decoded = decoded.subspan(block.size());
    }
    std::ranges::copy(stored.take(decoded.size()), decoded.begin());  // of less than eight elements
    if (!stored.is_empty()) stored.fail("has bytes behind its blocks");
  }

 private:
  void decode_block(std::span<const std::byte> stored, std::span<std::byte> block) const {
    if (element_bytes_ == 0) {
      if (stored.size() != block.size()) return lz4_->decode(stored, block);
      std::ranges::copy(stored, block.begin());
      return;
    }
    std::vector<std::byte> bits(block.size()), room(block.size());
    lz4_->decode(stored, bits);
    unshuffle_bits(bits, element_bytes_, block, room);
  }

  std::shared_ptr<const Codec> lz4_ = lz4_codec();
  std::size_t element_bytes_;
  std::string name_;
};

}  // namespace

std::shared_ptr<const Codec> lz4_blocks_codec() {
  return std::make_shared<const Lz4BlocksCodec>(0);
}

std::shared_ptr<const Codec> bitshuffle_codec(std::size_t element_bytes) {
  return std::make_shared<const Lz4BlocksCodec>(element_bytes);
}

}  // namespace ooc::detail
