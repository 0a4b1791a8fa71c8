#include "dataset/formats/headers/data_file.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/file.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/shape.hpp"

namespace ooc::detail {
namespace {

constexpr std::size_t longest_header_text = 1 * MiB;

/// Returns the number of bytes of lines to skip.
std::uint64_t bytes_of_lines(const Beginning& header, const FormatParser& format,
                             std::string_view text, std::uint64_t lines) {
  std::size_t end = 0;
  for (; lines > 0; --lines) {
    end = text.find('\n', end);
    if (end == std::string_view::npos) {
      throw broken_header(header, format, "the lines to skip in the first mebibyte of the data");
    }
    ++end;
  }
  return end;
}

/// Returns the array in a file, of which the header may be the beginning.
StoredArray array_in(const Beginning& header, const FormatParser& format, Beginning& file,
                     const DataPlace& place, const DType& type, std::vector<std::uint64_t> shape) {
  std::uint64_t begin = place.begin;
  if (place.lines != 0) {
    const std::string_view text = file.first_text(place.begin + longest_header_text);
    begin += bytes_of_lines(header, format, text.substr(std::min(begin, text.size())), place.lines);
  }
  const auto bytes = product_of(shape, size_of(type));
  if (place.is_at_end) {
    const bool is_there =
        bytes && file.bytes() && *bytes <= *file.bytes() && *file.bytes() - *bytes >= begin;
    if (!is_there) throw broken_header(header, format, "a file that has all data");
    begin = *file.bytes() - *bytes;
  } else if (__builtin_add_overflow(begin, place.bytes, &begin)) {
    throw broken_header(header, format, "an offset that a file can have");
  }
  StoredArray array = array_behind(file, type, std::move(shape), begin);
  require_end(file, format, array.offset + array.bytes);
  return array;
}

}  // namespace

File open_beside(const Beginning& header, const FormatParser& format, const std::string& name) {
  if (header.file() == nullptr || header.file()->buffered() < 0) {
    throw not_understood(header.path(), "its data are in another file, " + in_quotes(name),
                         "copy both to this machine, and give the path of the header");
  }
  const bool is_plain = !name.empty() && name != "." && name != ".." &&
                        name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
  if (!is_plain) {
    throw broken_header(header, format, "the name of a file beside it, not " + in_quotes(name));
  }
  const std::filesystem::path path = header.path().parent_path() / name;
  std::error_code unknown;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(path, unknown))) {
    throw not_understood(header.path(), "its data file " + in_quotes(name) + " is a link",
                         "replace the link by the file");
  }
  return File::open(path);
}

StoredArray array_in_place(Beginning& header, const FormatParser& format, DataPlace place,
                           const DType& type, std::vector<std::uint64_t> shape) {
  if (place.file.empty()) return array_in(header, format, header, place, type, std::move(shape));
  if (place.file.starts_with("./")) place.file.erase(0, 2);
  const File data = open_beside(header, format, place.file);
  Beginning beginning(data);
  StoredArray array = array_in(header, format, beginning, place, type, std::move(shape));
  array.file = data.path();
  return array;
}

std::string_view header_text(Beginning& file) {
  return file.first_text(longest_header_text);
}

std::string_view whole_text(Beginning& file, const FormatParser& format) {
  const std::string_view text = file.first_text(longest_header_text + 1);
  if (text.size() > longest_header_text)
    throw broken_header(file, format, "a text of up to a mebibyte");
  return text;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace ooc::detail
