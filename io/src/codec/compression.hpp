#pragma once

#include <ooc/detail/base/compressed_name.hpp>
#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/source.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace ooc::detail {

/// Returns "zstd", "gzip" or "lz4".
std::string_view name_of(Compression compression) noexcept;

/// Returns the format in which a file is compressed, as its ending says: .zst, .gz, .bgz or .lz4.
/// Nothing for other endings and empty files. Throws Error: `bad_input` if its first bytes are of
/// no such file, `input`.
std::optional<Compression> compression_of(const File& file);

/// Returns a file that is compressed in frames as its decoded bytes, which are read in any order,
/// and takes the file over. Null, and the file stays as it is, unless each frame says how many
/// bytes it decodes to, and these are at most 64 MiB: frames of pzstd and of zstd's seekable format
/// do, blocks of bgzip, and small files of zstd. Throws Error(input).
std::shared_ptr<const EncodedArray> find_frames(File& file, Compression compression);

/// Returns a producer of the bytes that another one's bytes decode to. Its fill() throws
/// Error(bad_input) if they are damaged or end early. Loads libzstd, zlib or liblz4; throws
/// Error(usage) if it is not on this machine.
std::unique_ptr<Producer> decoded(std::unique_ptr<Producer> encoded, Compression compression);

}  // namespace ooc::detail
