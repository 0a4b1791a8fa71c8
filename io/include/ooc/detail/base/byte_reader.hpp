#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ooc::detail {

/// Appends the bytes of a value.
template <class T>
requires std::is_trivially_copyable_v<T>
void append_bytes(std::vector<std::byte>& out, const T& value) {
  static_assert(std::endian::native == std::endian::little, "saved bytes are little-endian");
  const std::size_t size = out.size();
  out.resize(size + sizeof(T));
  std::memcpy(out.data() + size, &value, sizeof(T));
}

/// Appends bytes as they are.
OOC_API void append_span(std::vector<std::byte>& out, std::span<const std::byte> bytes);

/// Reads what append_bytes() has written, value by value.
class OOC_API ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}  ///< reads these

  /// Number of bytes that are left.
  std::size_t left() const noexcept { return bytes_.size(); }

  /// Returns the next value. Throws Error(bad_input) if there are too few bytes.
  template <class T>
  requires std::is_trivially_copyable_v<T> T take() {
    T value;
    std::memcpy(&value, take_bytes(sizeof(T)).data(), sizeof(T));
    return value;
  }

  /// Returns the next `size` bytes. Throws Error(bad_input) if there are fewer.
  std::span<const std::byte> take_bytes(std::uint64_t size);

  /// Returns a number of things that take at least `bytes_each` bytes each, so that memory for them
  /// may be allocated. Throws Error(bad_input) if there are too few bytes for so many.
  std::size_t take_count(std::size_t bytes_each);

  /// Throws Error(bad_input) if bytes are left.
  void require_end() const;

 private:
  std::span<const std::byte> bytes_;
};

/// Appends the length of a text, and the text.
OOC_API void append_text(std::vector<std::byte>& out, std::string_view text);
OOC_API std::string take_text(ByteReader& in);  ///< reads what append_text() wrote

}  // namespace ooc::detail
