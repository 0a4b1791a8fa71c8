#include <ooc/detail/base/shared_library.hpp>
#include <ooc/detail/codec/codec.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "base/little_endian.hpp"

namespace ooc::detail {

namespace {

/// The function of liblz4, whose interface has been stable since version 1.7.
struct Lz4 {
  SharedLibrary library{"liblz4", std::array{"liblz4.so.1"}, ErrorKind::usage,
                        "install it (apt-get install liblz4-1)"};
  /// Returns the number of decoded bytes; less than 0 if a block is not valid or makes more.
  int (*decompress)(const char*, char*, int, int) =
      library.function<int(const char*, char*, int, int)>("LZ4_decompress_safe");
};

class Lz4Codec final : public Codec {
 public:
  explicit Lz4Codec(bool has_size) : has_size_(has_size) {}

  std::string_view name() const noexcept override { return has_size_ ? "sized lz4" : "lz4"; }

  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    if (has_size_) encoded = without_size(encoded, decoded.size());
    constexpr std::size_t most = std::numeric_limits<int>::max();
    if (encoded.size() > most || decoded.size() > most) {
      throw Error(ErrorKind::bad_input, "lz4: a block of 2 GiB or more");
    }
    std::byte none{};  // liblz4 takes no null
    const int made =
        lz4_.decompress(reinterpret_cast<const char*>(encoded.data()),
                        reinterpret_cast<char*>(decoded.empty() ? &none : decoded.data()),
                        static_cast<int>(encoded.size()), static_cast<int>(decoded.size()));
    if (made < 0) throw Error(ErrorKind::bad_input, "lz4: these bytes are not valid");
    if (static_cast<std::size_t>(made) == decoded.size()) return;
    throw Error(ErrorKind::bad_input, "lz4: decodes to " + std::to_string(made) + " bytes, not " +
                                          std::to_string(decoded.size()));
  }

 private:
  static std::span<const std::byte> without_size(std::span<const std::byte> encoded,
                                                 std::size_t decoded_bytes) {
    constexpr std::size_t size_bytes = 4;
    const std::uint64_t size = number_in(encoded, 0, std::min(size_bytes, encoded.size()));
    if (encoded.size() < size_bytes || size != decoded_bytes) {
      throw Error(ErrorKind::bad_input, "lz4: is of " + std::to_string(size) + " bytes, not " +
                                            std::to_string(decoded_bytes));
    }
    return encoded.subspan(size_bytes);
  }

  Lz4 lz4_;
  bool has_size_;
};

}  // namespace

std::shared_ptr<const Codec> lz4_codec() {
  static const auto codec = std::make_shared<const Lz4Codec>(false);
  return codec;
}

std::shared_ptr<const Codec> sized_lz4_codec() {
  static const auto codec = std::make_shared<const Lz4Codec>(true);
  return codec;
}

}  // namespace ooc::detail
