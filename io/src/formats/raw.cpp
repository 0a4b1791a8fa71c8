#include "formats.hpp"

#include <ooc/io/error.hpp>

#include <array>
#include <string_view>

namespace ooc {
namespace {

struct Ending {
  std::string_view text;
  ElementType element;
};

// Endings count bits, where NumPy's codes count bytes.
constexpr std::array<Ending, 12> endings{{{".u8", ElementType::u1},
                                          {".u16", ElementType::u2},
                                          {".u32", ElementType::u4},
                                          {".u64", ElementType::u8},
                                          {".i8", ElementType::i1},
                                          {".i16", ElementType::i2},
                                          {".i32", ElementType::i4},
                                          {".i64", ElementType::i8},
                                          {".f16", ElementType::f2},
                                          {".f32", ElementType::f4},
                                          {".f64", ElementType::f8},
                                          {".bf16", ElementType::bf16}}};

}  // namespace

Description describe_raw(const File& file, const Format& format) {
  if (format.offset > file.size()) {
    throw Error(Cause::bad_input,
                file.path().string() + ": has " + std::to_string(file.size()) +
                    " bytes, fewer than the " + std::to_string(format.offset) + " to skip",
                {.path = file.path(), .hint = "give a smaller offset"});
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
  const std::string extension = file.path().extension().string();
  for (const Ending& ending : endings) {
    if (extension != ending.text) continue;
    description.type = {ending.element, false};
    description.type_reason = "from " + extension;
  }
  return description;
}

}  // namespace ooc
