#include <ooc/detail/base/edit_distance.hpp>
#include <ooc/detail/base/letters.hpp>
#include <ooc/dtype.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>

#include "base/struct_type.hpp"
#include "base/type_names.hpp"

namespace ooc {

using namespace detail;
namespace {

constexpr bool little_endian = std::endian::native == std::endian::little;

// No struct of a dataset is larger, and no sum or product of such sizes overflows.
constexpr std::size_t most_struct_bytes = std::size_t{1} << 30;

/// Other names that NumPy accepts: of types of C, and codes of one letter.
struct OtherName {
  std::string_view name, code;
};
constexpr std::array numpy_names{
    OtherName{"byte", "i1"},  OtherName{"ubyte", "u1"},     OtherName{"short", "i2"},
    OtherName{"half", "f2"},  OtherName{"ushort", "u2"},    OtherName{"intc", "i4"},
    OtherName{"int", "i8"},   OtherName{"uintc", "u4"},     OtherName{"uint", "u8"},
    OtherName{"long", "i8"},  OtherName{"ulong", "u8"},     OtherName{"longlong", "i8"},
    OtherName{"float", "f8"}, OtherName{"ulonglong", "u8"}, OtherName{"double", "f8"},
    OtherName{"b", "i1"},     OtherName{"single", "f4"},    OtherName{"B", "u1"},
    OtherName{"h", "i2"},     OtherName{"H", "u2"},         OtherName{"i", "i4"},
    OtherName{"I", "u4"},     OtherName{"l", "i8"},         OtherName{"L", "u8"},
    OtherName{"q", "i8"},     OtherName{"Q", "u8"},         OtherName{"e", "f2"},
    OtherName{"f", "f4"},     OtherName{"d", "f8"}};

/// Names in low-precision computing.
constexpr std::array other_names{OtherName{"fp64", "f8"}, OtherName{"fp32", "f4"},
                                 OtherName{"fp16", "f2"}};

/// True for the name of a type that exists elsewhere, such as fp8, i24 and c8. It is not treated as
/// a typing error. Long names count bits, short ones bits or bytes.
bool is_another_type(std::string_view name) {
  constexpr std::array long_kinds{"float", "int", "uint", "complex"};
  constexpr std::array short_kinds{"f", "fp", "i", "u", "c", "bf"};
  constexpr std::array bits{"8", "16", "24", "32", "48", "64", "80", "96", "128", "256"};
  constexpr std::array bytes{"1", "2", "3", "4", "6", "10", "12"};
  const auto is_one_of = [](const auto& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
  };
  const std::size_t digits = std::min(name.find_first_of("0123456789"), name.size());
  const std::string_view kind = name.substr(0, digits), number = name.substr(digits);
  return (is_one_of(long_kinds, kind) && is_one_of(bits, number)) ||
         (is_one_of(short_kinds, kind) && (is_one_of(bits, number) || is_one_of(bytes, number)));
}

/// Returns the code or name that was probably meant; empty if there is no clear candidate.
std::string_view nearest_name(std::string_view text) {
  constexpr std::size_t longest_dtype = 16;  // longer texts are not typing errors
  const std::string start = lower_case(text.substr(0, longest_dtype));
  for (const OtherName& other : other_names) {
    if (start == other.name) return other.code;
  }
  for (const TypeNames& type : type_names) {
    if (start == type.code || start == type.name) return start == type.code ? type.code : type.name;
  }
  if (is_another_type(start)) return {};
  std::string_view nearest;
  std::size_t least = 3;  // edits; fewer are required
  for (const TypeNames& type : type_names) {
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

// Characters that end a name without quotes.
constexpr std::string_view after_names = ":,{}[]";

/// Returns the name of a field as it stands in the text of a struct: in quotes if it could not be
/// read otherwise.
std::string text_of_name(const std::string& name) {
  const bool is_plain = name.find_first_of(after_names) == std::string::npos &&
                        !name.starts_with('\'') && !name.starts_with(' ') && !name.ends_with(' ');
  if (is_plain) return name;
  std::string text = "'";
  for (const char letter : name) text += letter == '\'' ? "''" : std::string(1, letter);
  return text + "'";
}

std::string code_of(ElementType element, bool swapped) {
  const std::string code{type_names[static_cast<std::size_t>(element)].code};
  if (size_of(element) == 1) return "|" + code;
  return (swapped == little_endian ? ">" : "<") + code;
}

DType parse_element(std::string_view text) {
  std::string_view name = text;
  char order = '=';
  if (!name.empty() && std::string_view{"<>=|"}.find(name.front()) != std::string_view::npos) {
    order = name.front();
    name.remove_prefix(1);
  }
  const auto other = std::ranges::find(numpy_names, name, &OtherName::name);
  if (other != numpy_names.end()) name = other->code;
  auto found = std::ranges::find_if(
      type_names, [&](const TypeNames& type) { return name == type.code || name == type.name; });
  // Names that count bits are tried second, because "u8" is NumPy's code for 8 bytes.
  if (found == type_names.end()) {
    found = std::ranges::find_if(
        type_names, [&](const TypeNames& type) { return name == type.ending.substr(1); });
  }
  if (found == type_names.end()) {
    const std::string_view near = nearest_name(name);
    throw Error(ErrorKind::usage, "unknown dtype '" + std::string{text} + "'",
                {.why = "the types are u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 bf16, or their long names",
                 .hint = near.empty() ? "" : "did you mean '" + std::string{near} + "'?"});
  }
  const auto element = static_cast<ElementType>(found - type_names.begin());
  if (size_of(element) == 1) return {element, false};
  if (order == '|') {
    throw Error(ErrorKind::usage, "dtype '" + std::string{text} + "' has no byte order",
                {.why = "'|' is for types of one byte",
                 .hint = "say '<" + std::string{name} + "' or '>" + std::string{name} + "'"});
  }
  return {element, order == (little_endian ? '>' : '<')};
}

/// Parses the text of a struct.
class StructParser {
 public:
  explicit StructParser(std::string_view text) : text_(text) {}

  DType parse() {
    expect('{', "'{'");
    do {
      parse_field();
    } while (accept(','));
    expect('}', "',' or '}'");
    if (position_ != text_.size()) fail("nothing is to follow the '}'");
    DType type = fields_.take();
    if (!type.is_struct()) fail("a struct has at least one field");
    return type;
  }

 private:
  /// Throws Error(usage) with the field, if its name is known, and the character where it begins.
  [[noreturn]] void fail(const std::string& problem, const std::string& hint = {}) const {
    constexpr std::size_t most = 64;
    const std::string shown =
        text_.size() > most ? std::string(text_.substr(0, most)) + "..." : std::string(text_);
    const std::string field = name_.empty() ? "" : "field '" + name_.substr(0, most) + "': ";
    throw Error(
        ErrorKind::usage,
        "dtype '" + shown + "', character " + std::to_string(begin_ + 1) + ": " + field + problem,
        {.why = "a struct is written {x:f4,y:>i2,v:f4[3]}; :V4 is 4 bytes of padding, and names of "
                "other characters are in quotes: 'a:b'",
         .hint = hint});
  }

  void parse_field() {
    begin_ = position_;
    name_.clear();
    const bool is_quoted = accept('\'');
    name_ = is_quoted ? quoted() : std::string(until(after_names));
    if (!accept(':')) fail("a ':' and a type are missing");
    const std::string_view code = until(after_names);
    if (name_.empty() && !is_quoted) {
      if (!code.starts_with('V')) fail("a field has a name");
      check(fields_.add_padding(parse_number(code.substr(1))));
      return;
    }
    if (name_.empty()) fail("a field has a name");
    Field field{.name = name_};
    try {
      field.is_bool = code == "|b1";
      const DType element = parse_element(field.is_bool ? "u1" : code);
      field.element = element.element;
      field.swapped = element.swapped;
    } catch (const Error& error) {
      fail(error.what(), error.details().hint);
    }
    if (accept('[')) {
      field.count = parse_number(until("]"));
      expect(']', "']'");
    }
    check(fields_.add(std::move(field)));
  }

  void check(const std::string& problem) const {
    if (!problem.empty()) fail(problem);
  }

  std::size_t parse_number(std::string_view digits) const {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
    if (digits.empty() || error != std::errc() || end != digits.end()) {
      fail("'" + std::string(digits.substr(0, 32)) + "' is no number of elements or bytes");
    }
    return number;
  }

  /// Returns the text up to the quote that ends it. Two quotes in it stand for one.
  std::string quoted() {
    std::string found;
    for (;;) {
      const std::size_t end = text_.find('\'', position_);
      if (end == std::string_view::npos) fail("the quote that ends a name is missing");
      found += text_.substr(position_, end - position_);
      position_ = end + 1;
      if (!text_.substr(position_).starts_with('\'')) return found;
      found += text_[position_++];
    }
  }

  /// Returns the text up to one of the characters, without the spaces around it.
  std::string_view until(std::string_view characters) {
    const std::size_t end = std::min(text_.find_first_of(characters, position_), text_.size());
    std::string_view found = text_.substr(position_, end - position_);
    position_ = end;
    while (found.starts_with(' ')) found.remove_prefix(1);
    while (found.ends_with(' ')) found.remove_suffix(1);
    return found;
  }

  bool accept(char wanted) {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
    if (position_ == text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted, const std::string& what) {
    if (!accept(wanted)) fail(what + " is missing");
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t begin_ = 0;  // of the field that is parsed
  std::string name_{};     // of that field
  StructBuilder fields_;
};

}  // namespace

std::string StructBuilder::add(Field field) {
  if (field.count == 0) return "has no elements";
  if (!names_.insert(field.name).second) return "there are two fields of that name";
  if (field.count > most_struct_bytes || field.bytes() > most_struct_bytes - type_.struct_bytes) {
    return "a struct has at most 2^30 bytes";
  }
  field.offset = type_.struct_bytes;
  type_.struct_bytes += field.bytes();
  type_.fields.push_back(std::move(field));
  return {};
}

std::string StructBuilder::add_padding(std::size_t bytes) {
  if (bytes > most_struct_bytes - type_.struct_bytes) return "a struct has at most 2^30 bytes";
  type_.struct_bytes += bytes;
  return {};
}

std::string code_of(const Field& field) {
  const std::string code = code_of(field.element, field.swapped);
  return field.count == 1 ? code : code + "[" + std::to_string(field.count) + "]";
}

std::string code_of(const DType& type) {
  if (!type.is_struct()) return code_of(type.element, type.swapped);
  std::string text;
  std::size_t end = 0;  // of the field before
  const auto add = [&](const std::string& name, const std::string& code) {
    text += (text.empty() ? "{" : ",") + text_of_name(name) + ":" + code;
  };
  const auto add_padding = [&](std::size_t begin) {
    if (begin > end) add("", "V" + std::to_string(begin - end));
  };
  for (const Field& field : type.fields) {
    add_padding(field.offset);
    add(field.name, code_of(field));
    end = field.offset + field.bytes();
  }
  add_padding(type.struct_bytes);
  return text + "}";
}

DType parse_dtype(std::string_view text) {
  return text.starts_with('{') ? StructParser(text).parse() : parse_element(text);
}

}  // namespace ooc
