#pragma once

#include <ooc/detail/file/file.hpp>
#include <ooc/dtype.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/formats/headers/header_rules.hpp"

namespace ooc::detail {

/// Where a header says that the data are.
struct DataPlace {
  std::string file{};       ///< its name, which has no directory; empty: that of the header
  std::uint64_t begin = 0;  ///< where it may have the data: behind the header (bytes)
  std::uint64_t lines = 0;  ///< to skip there
  std::uint64_t bytes = 0;  ///< to skip then
  bool is_at_end = false;   ///< nothing is said but that the data are at the end of the file
};

/// Opens the file of a name in the directory of a header. Throws Error: `bad_input` if the name
/// leads out of that, or if it is a link; `input` if there is no such file.
File open_beside(const Beginning& header, const FormatParser& format, const std::string& name);

/// Returns an array in that place. Throws Error: `bad_input` if it does not end with its file;
/// and as open_beside().
StoredArray array_in_place(Beginning& header, const FormatParser& format, DataPlace place,
                           const DType& type, std::vector<std::uint64_t> shape);

/// Returns the first bytes of a header that is a text: no more than a mebibyte.
std::string_view header_text(Beginning& file);

/// Returns a file that is a text, and nothing but a header. Throws Error(bad_input) if it is longer
/// than a mebibyte.
std::string_view whole_text(Beginning& file, const FormatParser& format);

/// Cuts the first line off a text, and returns it without spaces at its ends.
std::string_view next_line(std::string_view& text);

}  // namespace ooc::detail
