#include <ooc/detail/base/edit_distance.hpp>
#include <ooc/detail/base/letters.hpp>
#include <ooc/io/element_type.hpp>
#include <ooc/io/error.hpp>

#include <algorithm>
#include <array>

namespace ooc {
namespace {

struct Names {
  std::string_view code, name, ending;
};

// In the order of ElementType.
constexpr std::array<Names, 12> names{{{"u1", "uint8", ".u8"},
                                       {"u2", "uint16", ".u16"},
                                       {"u4", "uint32", ".u32"},
                                       {"u8", "uint64", ".u64"},
                                       {"i1", "int8", ".i8"},
                                       {"i2", "int16", ".i16"},
                                       {"i4", "int32", ".i32"},
                                       {"i8", "int64", ".i64"},
                                       {"f2", "float16", ".f16"},
                                       {"f4", "float32", ".f32"},
                                       {"f8", "float64", ".f64"},
                                       {"bf16", "bfloat16", ".bf16"}}};

constexpr bool little_endian = std::endian::native == std::endian::little;

/// Extensions besides those in bits and NumPy's names.
struct OtherEnding {
  std::string_view ending;
  ElementType type;
};
constexpr std::array other_endings{OtherEnding{".half", ElementType::f2},
                                   OtherEnding{".pcm", ElementType::i2}};

/// True if `code` means the same if its number counts bytes, as in NumPy, or bits: "f4" and "u2"
/// do, because no type has 2 or 4 bits; "u8" does not, and "f8" may be an 8-bit float.
bool counts_only_bytes(std::string_view code) {
  return code.size() == 2 && code[1] != '8';
}

/// Names of element types elsewhere: in C, in NumPy (whose int and float have 64 bits) and in
/// low-precision computing.
struct OtherName {
  std::string_view name, code;
};
constexpr std::array other_names{
    OtherName{"double", "f8"}, OtherName{"float", "f8"}, OtherName{"fp64", "f8"},
    OtherName{"single", "f4"}, OtherName{"fp32", "f4"},  OtherName{"half", "f2"},
    OtherName{"fp16", "f2"},   OtherName{"int", "i8"},   OtherName{"long", "i8"},
    OtherName{"short", "i2"},  OtherName{"byte", "i1"}};

/// Returns the code or name that was probably meant; empty if there is no clear candidate.
std::string_view nearest_name(std::string_view text) {
  constexpr std::size_t longest_dtype = 16;  // longer texts are not typing errors
  const std::string start = lower_case(text.substr(0, longest_dtype));
  for (const OtherName& other : other_names) {
    if (start == other.name) return other.code;
  }
  std::string_view nearest;
  std::size_t least = 3;  // edits; fewer are required
  for (const Names& type : names) {
    for (const std::string_view candidate : {type.code, type.name}) {
      const std::size_t distance = edit_distance(start, candidate);
      if (distance < std::min(least, candidate.size())) {
        least = distance;
        nearest = candidate;
      }
    }
  }
  return nearest;
}

}  // namespace

std::string_view name_of(ElementType element) {
  return names[static_cast<std::size_t>(element)].name;
}

std::string code_of(DType type) {
  const std::string code{names[static_cast<std::size_t>(type.element)].code};
  if (size_of(type.element) == 1) return "|" + code;
  return (type.swapped == little_endian ? ">" : "<") + code;
}

DType parse_dtype(std::string_view text) {
  std::string_view name = text;
  char order = '=';
  if (!name.empty() && std::string_view{"<>=|"}.find(name.front()) != std::string_view::npos) {
    order = name.front();
    name.remove_prefix(1);
  }
  auto found = std::ranges::find_if(
      names, [&](const Names& type) { return name == type.code || name == type.name; });
  // Names that count bits are tried second, because "u8" is NumPy's code for 8 bytes.
  if (found == names.end()) {
    found = std::ranges::find_if(names,
                                 [&](const Names& type) { return name == type.ending.substr(1); });
  }
  if (found == names.end()) {
    const std::string_view near = nearest_name(name);
    throw Error(ErrorKind::usage, "unknown dtype '" + std::string{text} + "'",
                {.why = "the types are u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 bf16, or their long names",
                 .hint = near.empty() ? "" : "did you mean '" + std::string{near} + "'?"});
  }
  const auto element = static_cast<ElementType>(found - names.begin());
  if (size_of(element) == 1) return {element, false};
  if (order == '|') {
    throw Error(ErrorKind::usage, "dtype '" + std::string{text} + "' has no byte order",
                {.why = "'|' is for types of one byte",
                 .hint = "say '<" + std::string{name} + "' or '>" + std::string{name} + "'"});
  }
  return {element, order == (little_endian ? '>' : '<')};
}

std::string ending_of(const std::filesystem::path& path) {
  return lower_case(path.extension().string());
}

std::optional<ElementType> type_of_ending(std::string_view ending) {
  if (!ending.starts_with('.')) return {};
  const std::string_view word = ending.substr(1);
  const auto found = std::ranges::find_if(names, [&](const Names& type) {
    return ending == type.ending || word == type.name ||
           (counts_only_bytes(type.code) && word == type.code);
  });
  if (found != names.end()) return static_cast<ElementType>(found - names.begin());
  const auto other = std::ranges::find(other_endings, ending, &OtherEnding::ending);
  if (other == other_endings.end()) return {};
  return other->type;
}

}  // namespace ooc
