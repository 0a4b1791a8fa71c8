#pragma once

#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/formats/beginning.hpp"

namespace ooc::detail {

// Limits of headers that list arrays. No file that anyone has made comes near them.
inline constexpr std::size_t most_arrays = 1'000'000;
inline constexpr std::size_t most_lengths = 64;  // of a shape

/// A format of files or streams. The files of this folder define one each.
struct FormatParser {
  FileFormat format;
  std::string_view name;   // as in Source::format
  std::string_view title;  // in messages

  /// True if a file has this format, by its name or its first bytes, unless `format` says that its
  /// bytes are meant. Throws Error(input).
  bool (*recognise)(Beginning& file, const Format& format);

  /// Parses the header and returns the arrays. Throws Error: `bad_input` if the header cannot be
  /// parsed or contradicts the size of the file, `input` if it cannot be read.
  std::vector<StoredArray> (*list)(Beginning& file, const Format& format);

  /// Opens the data of an array that can be read, given the file that has the header. Null: they
  /// are bytes of that file.
  File (*open)(File file, const StoredArray& array) = nullptr;

  /// False for raw data, whose type and place only the user knows.
  bool describes_itself() const noexcept { return format != FileFormat::raw; }
};

extern const FormatParser envi_format, fits_format, hdf5_format, metaimage_format, nifti_format,
    npy_format, npz_format, nrrd_format, raw_format, safetensors_format, sigmf_format,
    vectors_format, wav_format, zarr_format;

/// Returns the file that describes the data of a path: the header of a Zarr store, or itself.
std::filesystem::path header_of(const std::filesystem::path& path);

/// Returns the path that stands for a file in messages: of the header of a Zarr store its
/// directory.
std::filesystem::path dataset_path(const std::filesystem::path& file);

/// Returns all formats, in the order in which files are tried. The last one, raw, fits every file.
std::span<const FormatParser* const> all_formats() noexcept;

/// Returns the format of a file or stream: that of `format`, or the first that recognises it.
const FormatParser& format_of(Beginning& file, const Format& format);

/// Returns an array of a file, by its name; `name` may be empty if there is but one. Throws Error:
/// `usage` if there is no such array, or if `format` has an offset and the file describes itself;
/// `bad_input` if the array cannot be read or contradicts `format`.
StoredArray select_array(const FormatParser& parser, const std::vector<StoredArray>& arrays,
                         const std::filesystem::path& path, std::string_view name,
                         const Format& format);

/// Returns all bytes of the arrays of a file, which lie one behind another.
StoredArray bytes_of(const std::vector<StoredArray>& arrays);

/// Returns the error for a header that is damaged or has data that are not supported.
Error not_understood(const std::filesystem::path& file, const std::string& problem,
                     const std::string& hint = {});

/// Returns the name of an array for a message. Truncated, because a malicious header can make it
/// long.
std::string shortened(const std::string& name);

/// Returns a name or a type code in quotes for a message. Truncated, because a malicious header can
/// make it long.
std::string in_quotes(const std::string& text);

/// Returns the number of bytes after the first `expected` ones; 0 for a stream, whose producer
/// counts them. Throws Error(bad_input) if the file is shorter.
std::uint64_t bytes_behind(const Beginning& file, std::uint64_t expected);

}  // namespace ooc::detail
