#include "dataset/formats/formats.hpp"

#include <ooc/detail/base/compressed_name.hpp>

#include <utility>

namespace ooc::detail {
namespace {

/// Describes a raw file, with the type from `format`, its extension, or the default u1. Throws
/// Error(bad_input) if the file ends before `format.offset`.
std::vector<StoredArray> list_raw(Beginning& file, const Format& format) {
  const std::uint64_t size = file.bytes().value_or(0);
  if (format.offset > size) {
    throw Error(ErrorKind::bad_input,
                file.path().string() + ": has " + std::to_string(size) + " bytes, fewer than the " +
                    std::to_string(format.offset) + " to skip",
                {.path = file.path(), .remedies = {{RemedyAction::lower, "Format::offset"}}});
  }
  StoredArray array{.type = {},
                    .type_reason = "default for raw files",
                    .offset = format.offset,
                    .bytes = size - format.offset};
  const std::string extension = ending_of_data(file.path());
  if (format.type) {
    array.type = *format.type;
    array.type_reason = "asked for";
  } else if (const auto named = type_of_ending(extension)) {
    array.type = {*named, false};
    array.type_reason = "from " + extension;
  }
  return {std::move(array)};
}

}  // namespace

const FormatParser raw_format{.format = FileFormat::raw,
                              .name = "raw",
                              .title = "raw",
                              .recognise = [](Beginning&, const Format&) { return true; },
                              .list = list_raw};

}  // namespace ooc::detail
