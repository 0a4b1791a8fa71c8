#pragma once

#include <ooc/detail/base/compressed_name.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace ooc::detail {

/// Decodes bytes that arrive one after another.
class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;

  /// Decodes bytes from the beginning of `in` to the beginning of `out`, and takes those that were
  /// read and written off both. It moves on unless it needs more of one of them. Throws
  /// Error(bad_input) for bytes that are not valid.
  virtual void decode(std::span<const std::byte>& in, std::span<std::byte>& out) = 0;

  /// True if the bytes so far are whole frames.
  virtual bool is_between_frames() const noexcept = 0;
};

/// Loads the library of a format. Throws Error(usage) if it is not on this machine.
std::unique_ptr<StreamDecoder> make_stream_decoder(Compression compression);

}  // namespace ooc::detail
