#include "dataset/formats/formats.hpp"

#include <ooc/error.hpp>

namespace ooc::detail {

Description describe_raw(const File& file, const Format& format) {
  if (format.offset > file.size()) {
    throw Error(ErrorKind::bad_input,
                file.path().string() + ": has " + std::to_string(file.size()) +
                    " bytes, fewer than the " + std::to_string(format.offset) + " to skip",
                {.path = file.path(), .remedies = {{RemedyAction::lower, "Format::offset"}}});
  }
  Description description{.type = {},
                          .type_reason = "default for raw files",
                          .offset = format.offset,
                          .bytes = file.size() - format.offset};
  if (format.type) {
    description.type = *format.type;
    description.type_reason = "asked for";
    return description;
  }
  const std::string extension = ending_of(file.path());
  if (const auto named = type_of_ending(extension)) {
    description.type = {*named, false};
    description.type_reason = "from " + extension;
  }
  return description;
}

}  // namespace ooc::detail
