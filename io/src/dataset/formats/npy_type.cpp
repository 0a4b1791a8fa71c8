#include "dataset/formats/npy_type.hpp"

#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/shape.hpp"
#include "base/struct_type.hpp"
#include "dataset/formats/formats.hpp"

namespace ooc::detail {
namespace {

struct Refusal {
  std::string_view prefix;  // prefix of a type code without its byte order
  std::string_view what, hint;
};

constexpr std::array<Refusal, 9> refusals{{
    {"c", "complex numbers", "save array.view(array.real.dtype): real and imaginary parts in turn"},
    {"f16", "long doubles", "save array.astype(numpy.float64)"},
    {"f12", "long doubles", "save array.astype(numpy.float64)"},
    {"O", "pickled Python objects", "save an array of numbers"},
    {"S", "strings", "save array.view(numpy.uint8)"},
    {"U", "strings", "save array.view(numpy.uint32)"},
    {"V", "opaque bytes", "save array.view(numpy.uint8)"},
    {"M", "dates", "save array.view(numpy.int64)"},
    {"m", "time spans", "save array.view(numpy.int64)"},
}};

/// NumPy's one-letter codes that mean the same on all machines.
struct Letter {
  std::string_view letter, code;
};
constexpr std::array<Letter, 12> letters{{{"?", "b1"},
                                          {"b", "i1"},
                                          {"B", "u1"},
                                          {"h", "i2"},
                                          {"H", "u2"},
                                          {"i", "i4"},
                                          {"I", "u4"},
                                          {"q", "i8"},
                                          {"Q", "u8"},
                                          {"e", "f2"},
                                          {"f", "f4"},
                                          {"d", "f8"}}};

/// Returns the type of an element. `holds`: the beginning of an error message. `hint`: makes the
/// hint for a field; empty if the element is not in a field.
DType parse_element(const std::filesystem::path& file, const std::string& holds,
                    const std::string& descr, const std::function<std::string()>& hint) {
  std::string_view code = descr;
  char order = '=';
  const bool has_order =
      !code.empty() && std::string_view{"<>=|"}.find(code.front()) != std::string_view::npos;
  if (has_order) {
    if (code.front() != '|') order = code.front();  // NumPy reads "|f4" as "=f4"
    code.remove_prefix(1);
  }
  const auto letter = std::ranges::find(letters, code, &Letter::letter);
  if (letter != letters.end()) code = letter->code;
  if (code == "b1" || (code == "bool" && !has_order)) {
    DType type(ElementType::u1);
    type.is_bool = true;
    return type;
  }
  for (const Refusal& refusal : refusals) {
    if (!code.starts_with(refusal.prefix)) continue;
    throw not_understood(
        file,
        holds + std::string{refusal.what} + " (" + in_quotes(descr) + "), which are not supported",
        hint ? hint() : std::string{refusal.hint});
  }
  try {
    const DType type = parse_dtype(order + std::string{code});
    // NumPy writes codes of two characters, and long names without a byte order. bf16 and names
    // that count bits, such as "f32", are ours.
    const bool is_long_name =
        !has_order && type.element != ElementType::bf16 && code == name_of(type.element);
    if (code.size() == 2 || is_long_name) return type;
  } catch (const Error&) {
    // The message below is better: it names the file.
  }
  const std::string which = hint ? holds + "the type " : "its type ";
  throw not_understood(file,
                       which + in_quotes(descr) + (hint ? ", which is" : " is") + " not known",
                       hint ? hint() : "");
}

/// The numbers in a field: the code of their type, how many there are in an element, and what they
/// stand for, if that is something else: "M8[ns]".
struct Numbers {
  std::string code;
  std::uint64_t count;
  std::string kind{};
};

/// Returns a field of dates or time spans as integers ("<M8[ns]": "<i8"), and one of strings or
/// opaque bytes as their units ("|S3": three "|u1", "<U3": three "<u4"). Other codes stay, also
/// "<V1", which is a number of a type that NumPy does not know.
Numbers numbers_in(const std::string& code) {
  const std::size_t place = code.find_first_not_of("<>=|");
  if (place > 1 || std::string_view("mMSUV").find(code[place]) == std::string_view::npos) {
    return {code, 1};
  }
  const std::string order = code.substr(0, place);
  const char kind = code[place];
  const std::string_view rest = std::string_view(code).substr(place + 1);
  if (kind == 'm' || kind == 'M') {
    const bool has_unit = rest.starts_with("8[") && rest.ends_with(']');
    return has_unit || rest == "8" ? Numbers{order + "i8", 1, code.substr(place)}
                                   : Numbers{code, 1};
  }
  if (kind == 'V' && order != "|" && !order.empty()) return {code, 1};
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(rest.begin(), rest.end(), count);
  if (error != std::errc() || end != rest.end()) return {code, 1};
  return {kind == 'U' ? order + "u4" : "|u1", count, code.substr(place)};
}

/// Returns the number of bytes of "|V4", which is padding if it has no name.
std::optional<std::size_t> padding_of(const NpyField& field) {
  std::string_view code = field.code;
  if (code.starts_with('|')) code.remove_prefix(1);
  if (!field.name.empty() || !code.starts_with('V')) return std::nullopt;
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(code.begin() + 1, code.end(), bytes);
  if (error != std::errc() || end != code.end()) return std::nullopt;
  return bytes;
}

/// Returns a hint for a field that cannot be read: NumPy can copy the other fields. NumPy itself
/// cannot read files whose fields have no unique names.
std::string without(const std::vector<NpyField>& fields, const NpyField& refused) {
  const bool is_known = refused.name.empty()
                            ? padding_of(refused).has_value()
                            : std::ranges::count(fields, refused.name, &NpyField::name) == 1;
  if (!is_known) return "write it with NumPy, which gives each field a name of its own";
  constexpr std::size_t most = 8;  // more make no readable hint
  std::string names;
  std::size_t count = 0;
  for (const NpyField& field : fields) {
    if (&field == &refused || field.name.empty() || ++count > most) continue;
    names += (names.empty() ? "\"" : ", \"") + field.name + "\"";
  }
  if (count == 0 || count > most) return "save an array without this field";
  return "save the other fields: import numpy.lib.recfunctions as r; numpy.save(\"fields.npy\", "
         "r.repack_fields(array[[" +
         names + "]]))";
}

}  // namespace

Error no_fields(const std::filesystem::path& file) {
  return not_understood(file, "holds structs without fields", "save an array of numbers");
}

DType npy_type(const std::filesystem::path& file, const NpyDescr& descr) {
  if (descr.fields.empty()) return parse_element(file, "holds ", descr.code, {});
  StructBuilder fields;
  for (const NpyField& field : descr.fields) {
    std::string problem;
    const auto hint = [&] { return without(descr.fields, field); };  // of all fields
    if (const auto bytes = padding_of(field)) {
      problem = fields.add_padding(*bytes);
    } else {
      const std::string holds = "field " + in_quotes(field.name) + " holds ";
      const Numbers numbers = numbers_in(field.code);
      const DType element = parse_element(file, holds, numbers.code, hint);
      std::vector<std::uint64_t> shape = field.shape;
      shape.push_back(numbers.count);
      const auto count = product_of(shape);
      problem = count ? fields.add({.name = field.name,
                                    .element = element.element,
                                    .swapped = element.swapped,
                                    .count = *count,
                                    .is_bool = element.is_bool,
                                    .npy_kind = numbers.kind,
                                    .npy_shape = field.shape})
                      : "has more elements than 64 bits count";
      if (field.name.empty()) problem = "has no name";
    }
    if (!problem.empty()) {
      throw not_understood(file, "field " + in_quotes(field.name) + ": " + problem, hint());
    }
  }
  DType type = fields.take();
  if (!type.is_struct()) throw no_fields(file);
  return type;
}

}  // namespace ooc::detail
