#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ooc_run {

/// A foreign file format, recognised from the beginning of a file that is taken for raw data.
struct FileSignature {
  std::string name;                            // "gzip"
  std::string hint;                            // how to get at its numbers
  std::optional<std::uint64_t> data_offset{};  // of the numbers, if they are stored raw
};

/// Recognises a file format from the first bytes of a file. A few hundred bytes suffice.
std::optional<FileSignature> recognise(std::span<const std::byte> head);

/// True if a file that begins with these bytes is probably text, in ASCII or UTF-8. Of fewer than
/// 512 bytes, all must be text, and one a newline; of more, 99 %.
bool looks_like_text(std::span<const std::byte> head);

}  // namespace ooc_run
