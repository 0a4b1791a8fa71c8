#include "dataset/formats/formats.hpp"

#include <algorithm>
#include <array>

namespace ooc::detail {
namespace {

constexpr std::array<const FormatParser*, 2> formats{&npy_format, &raw_format};

}  // namespace

std::span<const FormatParser* const> all_formats() noexcept {
  return formats;
}

const FormatParser& format_of(Beginning& file, const Format& format) {
  const auto fits = [&](const FormatParser* each) {
    if (format.file == FileFormat::automatic) return each->recognise(file);
    return each->format == format.file;
  };
  return **std::ranges::find_if(formats, fits);
}

StoredArray describe(const FormatParser& parser, Beginning& file, const Format& format) {
  StoredArray array = parser.parse(file, format);
  const std::string itself = "a " + std::string(parser.title) + " file says itself ";
  if (format.offset != 0 && parser.describes_itself()) {
    throw Error(ErrorKind::usage, file.path().string() + ": an offset is for raw files only",
                {.path = file.path(), .why = itself + "where its data begin"});
  }
  if (format.type && code_of(*format.type) != code_of(array.type)) {
    throw Error(ErrorKind::bad_input,
                file.path().string() + ": holds " + code_of(array.type) + ", not the " +
                    code_of(*format.type) + " asked for",
                {.path = file.path(),
                 .why = itself + "what its type is",
                 .remedies = {{RemedyAction::unset, "Format::type"}}});
  }
  return array;
}

Error not_understood(const std::filesystem::path& file, const std::string& problem,
                     const std::string& hint) {
  return Error(ErrorKind::bad_input, file.string() + ": " + problem, {.path = file, .hint = hint});
}

std::string in_quotes(const std::string& text) {
  constexpr std::size_t most = 32;
  return "'" + text.substr(0, most) + (text.size() > most ? "...'" : "'");
}

std::uint64_t bytes_behind(const Beginning& file, std::uint64_t expected) {
  if (!file.bytes()) return 0;
  if (*file.bytes() < expected) {
    throw not_understood(file.path(), "is truncated: its header says " + std::to_string(expected) +
                                          " bytes, the file has " + std::to_string(*file.bytes()));
  }
  return *file.bytes() - expected;
}

}  // namespace ooc::detail
