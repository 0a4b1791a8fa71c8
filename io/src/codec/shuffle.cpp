#include <ooc/detail/codec/codec.hpp>
#include <ooc/error.hpp>

#include <string>

#include "codec/unshuffle.hpp"

namespace ooc::detail {

namespace {

class ShuffleCodec final : public Codec {
 public:
  explicit ShuffleCodec(std::size_t element_bytes)
      : element_bytes_(element_bytes), name_("shuffle " + std::to_string(element_bytes)) {}

  std::string_view name() const noexcept override { return name_; }
  std::optional<std::uint64_t> encoded_bytes(std::uint64_t decoded) const noexcept override {
    return decoded;
  }
  std::optional<std::uint64_t> decoded_bytes(std::uint64_t encoded) const noexcept override {
    return encoded;
  }

  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    if (encoded.size() != decoded.size()) {
      throw Error(ErrorKind::bad_input, "shuffle: " + std::to_string(encoded.size()) +
                                            " bytes are stored for " +
                                            std::to_string(decoded.size()));
    }
    unshuffle_bytes(encoded, element_bytes_, decoded);
  }

 private:
  std::size_t element_bytes_;
  std::string name_;
};

}  // namespace

std::shared_ptr<const Codec> shuffle_codec(std::size_t element_bytes) {
  return std::make_shared<const ShuffleCodec>(element_bytes);
}

}  // namespace ooc::detail
