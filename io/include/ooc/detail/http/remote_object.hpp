#pragma once

#include <ooc/detail/http/address.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ooc::detail {

/// The version of an object as its server names it. Requests ask for this version, and answers that
/// name another one are refused.
struct ObjectVersion {
  std::string etag{};      ///< the entity tag as the server sent it; may be empty
  std::string modified{};  ///< the time of the last write, as the server sent it; may be empty

  /// True if the entity tag names the exact bytes of the object.
  bool is_exact() const { return !etag.empty() && !etag.starts_with("W/"); }
};

/// An object on a web server of which parts can be read (RFC 9110, "Range Requests"). Immutable, so
/// all members are thread-safe.
class RemoteObject {
 public:
  /// Requests the first byte of an object; the answer gives its size and version. HEAD is not used,
  /// because some servers and signatures do not allow it. Throws Error: `input` if the server
  /// cannot be reached, has no such object, or refuses it; `bad_input` if it sends only whole
  /// objects; `usage` if the library cannot use libcurl.
  explicit RemoteObject(Address address);

  const Address& address() const noexcept { return address_; }
  /// Returns its size (bytes).
  std::uint64_t size() const noexcept { return size_; }
  const ObjectVersion& version() const noexcept { return version_; }
  /// Returns the time of the last write (seconds since 1970), or 0 if the server does not tell.
  std::int64_t modified_seconds() const noexcept { return modified_seconds_; }

  /// Returns a text that differs between objects, and between versions if the server names them.
  std::string fingerprint() const;

  /// Reads a range with one request, on the calling thread. Throws Error: `input`, `input_changed`.
  void read(std::uint64_t offset, std::span<std::byte> memory) const;

 private:
  Address address_;
  std::uint64_t size_ = 0;
  ObjectVersion version_;
  std::int64_t modified_seconds_ = 0;
};

}  // namespace ooc::detail
