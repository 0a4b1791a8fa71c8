#include <ooc/detail/codec/codec.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace ooc::detail {

namespace {

constexpr std::size_t checksum_bytes = 4;  // little-endian, behind the bytes
constexpr std::size_t slice = 8;           // bytes that one step takes

/// For each place in a slice, the remainders of all bytes by Castagnoli's polynomial.
constexpr auto remainders = [] {
  constexpr std::uint32_t polynomial = 0x82f63b78;  // its bits reversed
  std::array<std::array<std::uint32_t, 256>, slice> all{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest % 2 == 0 ? 0 : polynomial);
    all[0][byte] = rest;
  }
  for (std::size_t place = 1; place < slice; ++place) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = all[place - 1][byte];
      all[place][byte] = (before >> 8) ^ all[0][before & 0xff];
    }
  }
  return all;
}();

std::uint32_t checksum_of(std::span<const std::byte> bytes) {
  std::uint32_t sum = ~0u;
  for (; bytes.size() >= slice; bytes = bytes.subspan(slice)) {
    std::array<std::uint8_t, slice> next;
    std::memcpy(next.data(), bytes.data(), slice);
    for (std::size_t i = 0; i < checksum_bytes; ++i) {
      next[i] = static_cast<std::uint8_t>(next[i] ^ (sum >> (8 * i)));
    }
    sum = 0;
    for (std::size_t i = 0; i < slice; ++i) sum ^= remainders[slice - 1 - i][next[i]];
  }
  for (const std::byte byte : bytes) {
    sum = (sum >> 8) ^ remainders[0][(sum ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
  }
  return ~sum;
}

class Crc32cCodec final : public Codec {
 public:
  std::string_view name() const noexcept override { return "crc32c"; }
  std::optional<std::uint64_t> encoded_bytes(std::uint64_t decoded) const noexcept override {
    return decoded + checksum_bytes;
  }
  std::optional<std::uint64_t> decoded_bytes(std::uint64_t encoded) const noexcept override {
    return encoded - std::min<std::uint64_t>(encoded, checksum_bytes);
  }

  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    if (encoded.size() != decoded.size() + checksum_bytes) {
      throw Error(ErrorKind::bad_input, "crc32c: " + std::to_string(encoded.size()) +
                                            " bytes are stored for " +
                                            std::to_string(decoded.size()) + " and a checksum");
    }
    const auto bytes = encoded.first(decoded.size());
    std::uint32_t stored = 0;
    for (std::size_t i = 0; i < checksum_bytes; ++i) {
      stored |= std::to_integer<std::uint32_t>(encoded[bytes.size() + i]) << (8 * i);
    }
    if (checksum_of(bytes) != stored) {
      throw Error(ErrorKind::bad_input, "crc32c: the checksum differs");
    }
    if (!bytes.empty()) std::memcpy(decoded.data(), bytes.data(), bytes.size());
  }
};

}  // namespace

std::shared_ptr<const Codec> crc32c_codec() {
  return std::make_shared<const Crc32cCodec>();
}

}  // namespace ooc::detail
