#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "dataset/formats/fill_value.hpp"
#include "dataset/formats/formats.hpp"
#include "dataset/formats/json_text.hpp"
#include "dataset/formats/npy_type.hpp"
#include "dataset/formats/zarr_header.hpp"
#include "dataset/formats/zarr_rules.hpp"

namespace ooc::detail {
namespace {

/// Parses the header of an array of version 2. Members that are not known have no meaning.
class Header2Parser : private ZarrRules {
 public:
  explicit Header2Parser(const std::filesystem::path& file) : ZarrRules(file) {}

  std::optional<ZarrArray> parse(const Json& root) {
    if (optional_member(root, "zarr_format") != 2) fail("zarr_format to be 2");
    if (file_.filename() == ".zgroup") return {};
    array_.version = "2";
    array_.has_prefix = false;
    array_.shape = lengths(member(root, "shape"));
    array_.file_chunk = array_.chunk = chunk_lengths(member(root, "chunks"), "chunks");
    parse_order(member(root, "order"));
    parse_separator(optional_member(root, "dimension_separator"));
    parse_type(member(root, "dtype"));
    parse_codecs(optional_member(root, "filters"), optional_member(root, "compressor"));
    if (array_.why_not.empty()) parse_fill(optional_member(root, "fill_value"));
    if (array_.why_not.empty()) require_sizes();
    return std::move(array_);
  }

 private:
  using Kind = ZarrCodec::Kind;
  static constexpr std::array<CodecName, 6> known_codecs{{{"blosc", Kind::blosc},
                                                          {"gzip", Kind::gzip},
                                                          {"lz4", Kind::lz4},
                                                          {"shuffle", Kind::shuffle},
                                                          {"zlib", Kind::zlib},
                                                          {"zstd", Kind::zstd}}};

  void parse_order(const Json& order) {
    if (order != "C" && order != "F") fail("order to be C or F");
    const auto is_long = [](std::uint64_t length) { return length > 1; };
    if (order == "F" && std::ranges::count_if(array_.chunk, is_long) > 1) {
      refuse("chunks stored column by column (order F)");
    }
  }

  void parse_separator(const Json& separator) {
    if (!separator.is_null() && separator != "/" && separator != ".") {
      fail("a dimension_separator / or .");
    }
    array_.separator = separator == "/" ? '/' : '.';
  }

  void parse_type(const Json& dtype) {
    const NpyDescr descr = descr_of(dtype);
    try {
      array_.type = npy_type(file_, descr);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_input) throw;
      refuse(descr.fields.empty() ? in_quotes(descr.code) + " elements"
                                  : "structs " + in_quotes(dtype.dump()));
    }
  }

  NpyDescr descr_of(const Json& dtype) {
    if (dtype.is_string()) return {.code = without_unit(dtype.get<std::string>()), .fields = {}};
    NpyDescr descr;
    if (!dtype.is_array() || dtype.empty()) fail("dtype to be a text, or a list of fields");
    for (const Json& field : dtype) {
      if (!field.is_array() || field.size() < 2 || field.size() > 3 || !field[0].is_string()) {
        fail("fields with a name, a type and a shape");
      }
      const Lengths shape = field.size() == 3 ? lengths(field[2]) : Lengths{};
      // A struct in a struct has a list here, which is refused as NumPy's "O" would be.
      const std::string code = field[1].is_string() ? field[1].get<std::string>() : "[...]";
      descr.fields.push_back({.name = field[0].get<std::string>(), .code = code, .shape = shape});
    }
    return descr;
  }

  /// Returns the integers that dates and time spans are: "<i8" for "<M8[ns]". Other codes stay.
  std::string without_unit(std::string code) {
    constexpr std::size_t order_bytes = 1;
    const std::string_view kind = std::string_view(code).substr(std::min(code.size(), order_bytes));
    const bool is_time = kind.starts_with("M8") || kind.starts_with("m8");
    const std::string_view unit = is_time ? kind.substr(2) : "";
    is_time_ = is_time && (unit.empty() || (unit[0] == '[' && unit.ends_with(']')));
    return is_time_ ? code.substr(0, order_bytes) + "i8" : code;
  }

  void parse_codecs(const Json& filters, const Json& compressor) {
    if (!filters.is_null() && !filters.is_array()) fail("filters to be a list");
    for (const Json& filter : filters) parse_codec(filter);
    if (!compressor.is_null()) parse_codec(compressor);
  }

  void parse_codec(const Json& codec) {
    const Json& id = member(codec, "id");
    if (!id.is_string()) fail("the id of a codec to be a text");
    add_codec(id.get<std::string>(), codec, known_codecs);
  }

  void parse_fill(const Json& value) {
    const std::size_t bytes = ooc::size_of(array_.type);
    if (is_time_ && (value.is_null() || value == "NaT")) {
      return parse_fill(Json(std::numeric_limits<std::int64_t>::min()));  // NumPy's NaT
    }
    if (value.is_null() || (array_.type.is_struct() && (value == 0 || is_zeros(value, bytes)))) {
      array_.fill.resize(bytes);
      return;
    }
    if (array_.type.is_struct()) return refuse("structs with a fill_value that is not 0");
    auto fill = parse_fill_value(whole_number(value), array_.type);
    if (!fill) return refuse("elements with a fill_value that they cannot have");
    array_.fill = std::move(*fill);
  }

  /// True for bytes in base64 that are all 0.
  static bool is_zeros(const Json& value, std::size_t bytes) {
    if (!value.is_string()) return false;
    const auto& text = value.get_ref<const std::string&>();
    const std::size_t letters = (bytes * 4 + 2) / 3, padding = (3 - bytes % 3) % 3;
    return text == std::string(letters, 'A') + std::string(padding, '=');
  }

  /// Returns what some writers mean by 0.0 or, for bool, 0.
  Json whole_number(const Json& value) const {
    if (array_.type.is_bool && value.is_number()) {
      return value == 0 ? Json(false) : value == 1 ? Json(true) : value;
    }
    constexpr double most = 0x1p53;  // up to which all whole numbers have a double
    const bool is_integer = visit(
        array_.type.element, []<class T>(std::type_identity<T>) { return std::is_integral_v<T>; });
    if (!is_integer || !value.is_number_float()) return value;
    const auto number = value.get<double>();
    const bool is_whole = std::abs(number) < most && std::trunc(number) == number;
    return is_whole ? Json(static_cast<std::int64_t>(number)) : value;
  }

  bool is_time_ = false;  // elements are dates or time spans
};

}  // namespace

std::optional<ZarrArray> parse_zarr2_header(std::string_view text,
                                            const std::filesystem::path& file) {
  return Header2Parser(file).parse(parse_json(text, {}, file));
}

}  // namespace ooc::detail
