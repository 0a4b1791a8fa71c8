#include <ooc/detail/base/letters.hpp>
#include <ooc/dtype.hpp>

#include <algorithm>
#include <array>
#include <string>

#include "base/type_names.hpp"

namespace ooc {

using namespace detail;
namespace {

/// Extensions besides those in bits and NumPy's names.
struct OtherEnding {
  std::string_view ending;
  ElementType type;
};
constexpr std::array other_endings{OtherEnding{".half", ElementType::f2},
                                   OtherEnding{".pcm", ElementType::i2}};

/// True if the number in `code` can only count bytes, as in NumPy: "f4" and "u2" can, because no
/// type has 2 or 4 bits; "u8" may also count bits, and "f8" may be an 8-bit float.
bool counts_only_bytes(std::string_view code) {
  return code.size() == 2 && code[1] != '8';
}

}  // namespace

std::string_view name_of(ElementType element) {
  return type_names[static_cast<std::size_t>(element)].name;
}

std::string ending_of(const std::filesystem::path& path) {
  return lower_case(path.extension().string());
}

std::optional<ElementType> type_of_ending(std::string_view ending) {
  if (!ending.starts_with('.')) return {};
  const std::string_view word = ending.substr(1);
  const auto found = std::ranges::find_if(type_names, [&](const TypeNames& type) {
    return ending == type.ending || word == type.name ||
           (counts_only_bytes(type.code) && word == type.code);
  });
  if (found != type_names.end()) return static_cast<ElementType>(found - type_names.begin());
  const auto other = std::ranges::find(other_endings, ending, &OtherEnding::ending);
  if (other == other_endings.end()) return {};
  return other->type;
}

}  // namespace ooc
