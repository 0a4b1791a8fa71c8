#include <ooc/detail/base/compressed_name.hpp>
#include <ooc/detail/base/letters.hpp>
#include <ooc/dtype.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "dataset/formats/headers/data_file.hpp"
#include "dataset/formats/headers/header_fields.hpp"

namespace ooc::detail {
namespace {

// A header of ENVI is a text beside its data: the word ENVI, and lines "key = value", of which a
// value in braces may have several. It does not say the name of the data file.
constexpr std::string_view envi_magic = "ENVI";
constexpr std::array<std::string_view, 9> envi_keys{
    "samples",   "lines",      "bands",      "header offset",
    "data type", "interleave", "byte order", "file compression",
    "file type"};
constexpr std::array<std::string_view, 5> envi_changes{
    "data gain values", "data offset values", "reflectance scale factor", "major frame offsets",
    "minor frame offsets"};
constexpr std::array<std::string_view, 9> envi_endings{"",     ".img", ".dat", ".raw", ".bin",
                                                       ".bsq", ".bil", ".bip", ".envi"};

struct EnviType {
  std::int64_t code;
  ElementType element;
};

constexpr std::array<EnviType, 9> envi_types{{{1, ElementType::u1},
                                              {2, ElementType::i2},
                                              {3, ElementType::i4},
                                              {4, ElementType::f4},
                                              {5, ElementType::f8},
                                              {12, ElementType::u2},
                                              {13, ElementType::u4},
                                              {14, ElementType::i8},
                                              {15, ElementType::u8}}};

/// Recognises a header by its ending and its first word: other formats have headers named so, too.
bool is_envi(Beginning& file, const Format& format) {
  const bool is_named = format.offset == 0 && ending_of_data(file.path()) == ".hdr";
  if (!is_named) return false;
  std::string_view text = file.first_text(envi_magic.size() + 2);
  return next_line(text) == envi_magic;
}

/// Returns a key with single spaces and small letters.
std::string envi_key(std::string_view text) {
  std::string key;
  for (const char letter : lower_case(trimmed(text))) {
    const bool is_space = letter == ' ' || letter == '\t';
    if (!is_space) key += letter;
    if (is_space && key.back() != ' ') key += ' ';
  }
  return key;
}

void read_envi_fields(Beginning& file, HeaderFields& fields) {
  std::string_view left = whole_text(file, envi_format);
  if (next_line(left) != envi_magic) fields.fail("ENVI at its beginning");
  while (!left.empty()) {
    const std::string_view line = next_line(left);
    const std::size_t sign = line.find('=');
    if (line.starts_with(';') || sign == std::string_view::npos) continue;
    const std::string key = envi_key(line.substr(0, sign));
    std::string_view value = trimmed(line.substr(sign + 1));
    std::string_view rest = left;
    if (value.empty() && trimmed(rest).starts_with('{')) {
      value = next_line(rest);
      left = rest;
    }
    if (value.starts_with('{') && value.find('}') == std::string_view::npos) {
      const std::size_t end = left.find('}');
      if (end == std::string_view::npos)
        fields.fail("a brace behind the value of " + in_quotes(key));
      left.remove_prefix(end + 1);
    }
    const bool is_change = std::ranges::find(envi_changes, key) != envi_changes.end();
    const bool is_meant = std::ranges::find(envi_keys, key) != envi_keys.end();
    if (is_change || is_meant) fields.add(key, value);
  }
}

/// Returns the name of the data file beside a header: that of the header without its ending, or
/// with another one. Throws Error(bad_input) if there is none, or if there are several.
std::string envi_data_file(const Beginning& file) {
  const std::string stem = file.path().stem().string();
  std::vector<std::string> found;
  for (const std::string_view ending : envi_endings) {
    const std::string name = stem + std::string(ending);
    std::error_code ignored;
    const std::filesystem::path path = file.path().parent_path() / name;
    if (std::filesystem::is_regular_file(path, ignored)) found.push_back(name);
  }
  if (found.size() == 1) return found.front();
  throw not_understood(
      file.path(),
      found.empty() ? "there is no data file beside it"
                    : "its data are in " + in_quotes(found[0]) + " or in " + in_quotes(found[1]),
      "name one of " + in_quotes(stem) + " and " + in_quotes(stem + ".img") +
          " so, and no other file");
}

/// Returns the shape that the interleaving of lines, bands and samples says.
std::vector<std::uint64_t> envi_shape(const HeaderFields& fields) {
  const std::uint64_t samples = fields.size("samples"), lines = fields.size("lines"),
                      bands = fields.size("bands");
  const std::string interleave = lower_case(fields.text("interleave"));
  if (interleave == "bsq") return {bands, lines, samples};
  if (interleave == "bil") return {lines, bands, samples};
  if (interleave == "bip") return {lines, samples, bands};
  fields.fail("interleave to be bsq, bil or bip");
}

std::vector<StoredArray> list_envi(Beginning& file, const Format&) {
  HeaderFields fields(file, envi_format);
  read_envi_fields(file, fields);
  std::vector<std::uint64_t> shape = envi_shape(fields);
  const std::int64_t code = fields.whole("data type");
  const auto* const type = std::ranges::find(envi_types, code, &EnviType::code);
  std::string why_not;
  if (type == envi_types.end()) why_not = "elements of the data type " + std::to_string(code);
  for (const std::string_view change : envi_changes) {
    if (!fields.text(change).empty()) why_not = "numbers that " + std::string(change) + " change";
  }
  const std::string file_type = lower_case(fields.text("file type"));
  const bool is_plain = file_type.empty() || file_type == "envi standard" ||
                        file_type == "envi classification" || file_type == "envi spectral library";
  if (!is_plain) why_not = "data of the file type " + in_quotes(fields.text("file type"));
  if (fields.whole("file compression", 0) != 0) why_not = "compressed numbers";
  if (!why_not.empty()) {
    return {{.type = {},
             .type_reason = "from its header",
             .shape = std::move(shape),
             .why_not = std::move(why_not),
             .hint = "save it as .npy: numpy.save(\"x.npy\", spectral.envi.open(\"" +
                     file.path().filename().string() + "\").load())"}};
  }
  const bool has_order = size_of(type->element) > 1;
  const std::uint64_t order =
      fields.size("byte order", has_order ? std::nullopt : std::optional<std::int64_t>(0));
  if (order > 1) fields.fail("byte order to be 0 or 1");
  return {array_in_place(file, envi_format,
                         {.file = envi_data_file(file), .bytes = fields.size("header offset", 0)},
                         stored_type(type->element, order == 1), std::move(shape))};
}

}  // namespace

const FormatParser envi_format{.format = FileFormat::envi,
                               .name = "envi",
                               .title = "ENVI",
                               .recognise = is_envi,
                               .list = list_envi};

}  // namespace ooc::detail
