#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ooc::detail {

/// The beginning of a file or stream and, if they are known, its size and its end.
struct FileSample {
  std::string_view head{};               // its first bytes: a page or more, unless it is shorter
  std::optional<std::uint64_t> bytes{};  // its size; empty for a stream that goes on
  std::function<std::string(std::size_t)> read_last{};  // reads so many last bytes; may be empty
};

/// A foreign file format, recognised from the beginning of a file that is taken for raw data.
struct FileSignature {
  std::string name;                            // "gzip"
  std::string hint;                            // how to get at its numbers
  std::optional<std::uint64_t> data_offset{};  // of the numbers, if they are stored raw
};

/// Recognises a file format by its magic bytes and by the structure behind them. Magic bytes alone
/// may be so few that raw numbers would be taken for another format.
std::optional<FileSignature> recognise(const FileSample& sample);

/// True if HDF5 begins in these first bytes of a file, perhaps behind a user block, whose size is a
/// power of two.
bool has_hdf5_signature(std::string_view head);

/// True if a file that begins with these bytes is probably text, in ASCII or UTF-8. Fewer than
/// 512 bytes must all be text, with a newline; 99 % of more bytes must be.
bool looks_like_text(std::string_view head);

}  // namespace ooc::detail
