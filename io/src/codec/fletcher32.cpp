#include <ooc/detail/codec/codec.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/little_endian.hpp"

namespace ooc::detail {

namespace {

constexpr std::size_t fletcher_bytes = 4;  // little-endian, behind the bytes

/// Returns the checksum that HDF5 computes, of words of two bytes, big-endian.
std::uint32_t fletcher32_of(std::span<const std::byte> bytes) {
  constexpr std::size_t most_words = 360;  // whose sums fit in 32 bits
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  std::uint32_t first = 0, second = 0;
  const auto add = [&](std::uint32_t high, std::uint32_t low) {
    first += high << 8 | low;
    second += first;
  };
  for (std::size_t words = bytes.size() / 2; words != 0;) {
    const std::size_t now = std::min(words, most_words);
    for (std::size_t i = 0; i < now; ++i) {
      add(std::to_integer<std::uint32_t>(bytes[2 * i]),
          std::to_integer<std::uint32_t>(bytes[2 * i + 1]));
    }
    first = fold(first);
    second = fold(second);
    bytes = bytes.subspan(2 * now);
    words -= now;
  }
  if (!bytes.empty()) {
    add(std::to_integer<std::uint32_t>(bytes.front()), 0);
    first = fold(first);
    second = fold(second);
  }
  return fold(second) << 16 | fold(first);
}

class Fletcher32Codec final : public Codec {
 public:
  std::string_view name() const noexcept override { return "fletcher32"; }
  std::optional<std::uint64_t> encoded_bytes(std::uint64_t decoded) const noexcept override {
    return decoded + fletcher_bytes;
  }
  std::optional<std::uint64_t> decoded_bytes(std::uint64_t encoded) const noexcept override {
    return encoded - std::min<std::uint64_t>(encoded, fletcher_bytes);
  }

  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    if (encoded.size() != decoded.size() + fletcher_bytes) {
      throw Error(ErrorKind::bad_input, "fletcher32: " + std::to_string(encoded.size()) +
                                            " bytes are stored for " +
                                            std::to_string(decoded.size()) + " and a checksum");
    }
    const auto bytes = encoded.first(decoded.size());
    if (fletcher32_of(bytes) != number_in(encoded, bytes.size(), fletcher_bytes)) {
      throw Error(ErrorKind::bad_input, "fletcher32: the checksum differs");
    }
    if (!bytes.empty()) std::memcpy(decoded.data(), bytes.data(), bytes.size());
  }
};

}  // namespace

std::shared_ptr<const Codec> fletcher32_codec() {
  return std::make_shared<const Fletcher32Codec>();
}

}  // namespace ooc::detail
