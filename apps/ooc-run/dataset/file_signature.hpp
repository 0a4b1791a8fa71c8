#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ooc_run {

/// A format that a file of "raw" data begins like, which is not one of ours.
struct FileSignature {
  std::string name;                            // "gzip"
  std::string hint;                            // how its numbers could be read nevertheless
  std::optional<std::uint64_t> data_offset{};  // where these begin, if they lie there as they are
};

/// Recognises a file by its first bytes, of which some hundred will do.
std::optional<FileSignature> recognise(std::span<const std::byte> head);

/// Whether a file that begins so is text: ASCII or UTF-8. Few bytes must all be, with an end of a
/// line among them; of many, 99 %.
bool looks_like_text(std::span<const std::byte> head);

}  // namespace ooc_run
