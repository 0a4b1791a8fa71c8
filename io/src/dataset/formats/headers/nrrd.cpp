#include <ooc/detail/base/compressed_name.hpp>
#include <ooc/detail/base/letters.hpp>
#include <ooc/dtype.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataset/formats/headers/data_file.hpp"
#include "dataset/formats/headers/header_fields.hpp"

namespace ooc::detail {
namespace {

// An NRRD file begins with lines, "field: value", up to an empty line. The data are behind it, or
// in another file that a field names.
constexpr std::string_view nrrd_magic = "NRRD000";

/// Fields, and other names of them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> nrrd_fields{
    {{"type", "type"},
     {"dimension", "dimension"},
     {"sizes", "sizes"},
     {"encoding", "encoding"},
     {"endian", "endian"},
     {"data file", "data file"},
     {"datafile", "data file"},
     {"byte skip", "byte skip"},
     {"byteskip", "byte skip"},
     {"line skip", "line skip"},
     {"lineskip", "line skip"},
     {"block size", "block size"},
     {"blocksize", "block size"}}};

/// Returns the type of a name; empty if there is none.
std::optional<ElementType> nrrd_type(std::string name) {
  struct Names {
    ElementType element;
    std::array<std::string_view, 6> names;
  };
  using enum ElementType;
  static constexpr std::array<Names, 10> all{
      {{i1, {"char", "int8", "int8_t"}},
       {u1, {"uchar", "unsigned char", "uint8", "uint8_t"}},
       {i2, {"short", "short int", "int16", "int16_t"}},
       {u2, {"ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t"}},
       {i4, {"int", "int32", "int32_t"}},
       {u4, {"uint", "unsigned int", "uint32", "uint32_t"}},
       {i8, {"longlong", "long long", "long long int", "int64", "int64_t"}},
       {u8, {"ulonglong", "unsigned long long", "unsigned long long int", "uint64", "uint64_t"}},
       {f4, {"float"}},
       {f8, {"double"}}}};
  if (name == "char") return {};  // with a sign or without one
  if (name.starts_with("signed ")) name.erase(0, std::string_view("signed ").size());
  if (name.empty()) return {};
  const auto has_name = [&](const Names& type) {
    return std::ranges::find(type.names, name) != type.names.end();
  };
  const auto found = std::ranges::find_if(all, has_name);
  return found == all.end() ? std::nullopt : std::optional(found->element);
}

/// Adds the fields of a header. Returns where it ends; 0 if there is no empty line behind it.
std::size_t read_nrrd_fields(Beginning& file, HeaderFields& fields) {
  const std::string_view text = header_text(file);
  std::string_view left = text;
  if (!next_line(left).starts_with(nrrd_magic)) fields.fail("NRRD000 at its beginning");
  while (!left.empty()) {
    const std::string_view line = next_line(left);
    if (line.empty()) return text.size() - left.size();
    const std::size_t colon = line.find(": ");
    if (line.starts_with('#') || colon == std::string_view::npos) continue;  // or "key:=value"
    const std::string name = lower_case(trimmed(line.substr(0, colon)));
    const auto known =
        std::ranges::find(nrrd_fields, name, &std::pair<std::string_view, std::string_view>::first);
    if (known != nrrd_fields.end()) fields.add(known->second, trimmed(line.substr(colon + 2)));
  }
  return 0;
}

/// Returns what a file holds that is not read; empty if it is.
std::string why_not_nrrd(const HeaderFields& fields) {
  const std::string encoding = lower_case(fields.text("encoding")), data = fields.text("data file");
  if (encoding != "raw") return "numbers encoded as " + in_quotes(encoding);
  const bool is_list = data.starts_with("LIST") || data.find('%') != std::string::npos;
  if (is_list) return "data in several files";
  const std::string type = lower_case(fields.text("type"));
  return nrrd_type(type) ? "" : "elements of the type " + in_quotes(type);
}

bool is_nrrd_file(Beginning& file, const Format& format) {
  constexpr std::size_t magic_bytes = nrrd_magic.size() + 2;
  if (format.offset != 0) return false;
  const std::string ending = ending_of_data(file.path());
  if (ending == ".nrrd" || ending == ".nhdr") return true;
  const std::string_view text = file.first_text(magic_bytes);
  return text.size() == magic_bytes && text.starts_with(nrrd_magic) && is_digit(text[7]) &&
         (text[8] == '\n' || text[8] == '\r');
}

std::vector<StoredArray> list_nrrd(Beginning& file, const Format&) {
  HeaderFields fields(file, nrrd_format);
  const std::size_t end = read_nrrd_fields(file, fields);
  std::vector<std::uint64_t> shape = fields.reversed_lengths("sizes");
  if (shape.empty() || fields.size("dimension") != shape.size()) {
    fields.fail("as many sizes as dimension says");
  }
  if (std::string why_not = why_not_nrrd(fields); !why_not.empty()) {
    return {{.type = {},
             .type_reason = "from its header",
             .shape = std::move(shape),
             .why_not = std::move(why_not),
             .hint = "save it as .npy: numpy.save(\"x.npy\", nrrd.read(\"" +
                     file.path().filename().string() + "\", index_order=\"C\")[0])"}};
  }
  const ElementType element = *nrrd_type(lower_case(fields.text("type")));
  const std::string endian = lower_case(fields.text("endian"));
  if (size_of(element) > 1 && endian != "little" && endian != "big") {
    fields.fail("endian to be little or big");
  }
  DataPlace place{.file = fields.text("data file"), .lines = fields.size("line skip", 0)};
  if (place.file.empty() && end == 0) fields.fail("an empty line behind it");
  if (end == 0) whole_text(file, nrrd_format);
  if (place.file.empty()) place.begin = end;
  place.is_at_end = fields.whole("byte skip", 0) == -1;
  if (!place.is_at_end) place.bytes = fields.size("byte skip", 0);
  return {array_in_place(file, nrrd_format, std::move(place), stored_type(element, endian == "big"),
                         std::move(shape))};
}

}  // namespace

const FormatParser nrrd_format{.format = FileFormat::nrrd,
                               .name = "nrrd",
                               .title = "NRRD",
                               .recognise = is_nrrd_file,
                               .list = list_nrrd};

}  // namespace ooc::detail
