#pragma once

#include <ooc/detail/base/language.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ooc::detail {

/// An encoding of bytes, such as compression. All members are thread-safe.
class Codec {
 public:
  virtual ~Codec() = default;

  /// Returns its name with all its parameters, which say how it decodes.
  virtual std::string_view name() const noexcept = 0;

  /// Returns the size of the encoded bytes, given that of the decoded ones, if it does not depend
  /// on the bytes.
  virtual std::optional<std::uint64_t> encoded_bytes(std::uint64_t /*decoded*/) const noexcept {
    return {};
  }

  /// Returns the size of the decoded bytes, given that of the encoded ones, if it does not depend
  /// on the bytes.
  virtual std::optional<std::uint64_t> decoded_bytes(std::uint64_t /*encoded*/) const noexcept {
    return {};
  }

  /// Decodes `encoded` into all of `decoded`. Throws Error(bad_input) if the bytes are not valid,
  /// or make more or fewer bytes.
  virtual void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const = 0;
};

/// Codecs in the order of decoding. The sizes of one of them, at most, depend on the bytes.
using CodecChain = std::vector<std::shared_ptr<const Codec>>;

/// Decodes with all codecs of a chain, one after another; copies if there is none. Throws Error as
/// Codec::decode().
void decode(const CodecChain& chain, std::span<const std::byte> encoded,
            std::span<std::byte> decoded);

/// Returns the codec of Zstandard: one frame or several, one after another. libzstd is loaded when
/// it is asked for first. Throws Error(usage) if it is not on this machine.
std::shared_ptr<const Codec> zstd_codec();

/// Returns the codec of gzip: one member. libdeflate is loaded when it is asked for first. Throws
/// Error(usage) if it is not on this machine.
std::shared_ptr<const Codec> gzip_codec();

/// Returns the codec of zlib: one stream. Throws as gzip_codec().
std::shared_ptr<const Codec> zlib_codec();

/// Returns the codec of LZ4: one block. liblz4 is loaded when it is asked for first. Throws
/// Error(usage) if it is not on this machine.
std::shared_ptr<const Codec> lz4_codec();

/// Returns the codec of LZ4 with the decoded size, four bytes little-endian, in front of the block.
/// Throws as lz4_codec().
std::shared_ptr<const Codec> sized_lz4_codec();

/// Returns the codec of blocks of LZ4 as HDF5's filter 32004 writes them: the decoded size (eight
/// bytes, big-endian), that of a block (four), and blocks with their stored sizes (four) in front.
/// Throws as lz4_codec().
std::shared_ptr<const Codec> lz4_blocks_codec();

/// Returns the codec of HDF5's filter 32008 with LZ4: such blocks of elements whose bits are
/// shuffled, and behind them, as they are, up to seven elements. `element_bytes` is not 0. Throws
/// as lz4_codec().
std::shared_ptr<const Codec> bitshuffle_codec(std::size_t element_bytes);

/// Returns the codec of Blosc 1: one frame, which says how its blocks are compressed (by LZ4, zlib
/// or Zstandard) and shuffled. Libraries are loaded when a frame needs them: decode() throws
/// Error(usage) if one is not on this machine.
std::shared_ptr<const Codec> blosc_codec();

/// Returns the codec of bytes that were shuffled: the first ones of all elements, then the second
/// ones, and so on. `element_bytes` is not 0.
std::shared_ptr<const Codec> shuffle_codec(std::size_t element_bytes);

/// Returns the codec that verifies and removes a CRC-32C of four bytes behind the others.
std::shared_ptr<const Codec> crc32c_codec();

/// Returns the codec that verifies and removes the checksum of HDF5's filter fletcher32: four bytes
/// behind the others.
std::shared_ptr<const Codec> fletcher32_codec();

}  // namespace ooc::detail
