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

// A file of MetaImage begins with lines, "Key = Value", of which the last one names the file of the
// data, or says that they are behind it.
constexpr std::string_view last_meta_key = "elementdatafile";
constexpr std::array<std::string_view, 13> meta_keys{"ndims",
                                                     "dimsize",
                                                     "elementtype",
                                                     "binarydata",
                                                     "compresseddata",
                                                     "binarydatabyteordermsb",
                                                     "headersize",
                                                     last_meta_key,
                                                     "elementbyteordermsb",
                                                     "objecttype",
                                                     "elementnumberofchannels",
                                                     "elementtointensityfunctionslope",
                                                     "elementtointensityfunctionoffset"};

constexpr std::array<std::pair<std::string_view, ElementType>, 10> meta_types{
    {{"MET_CHAR", ElementType::i1},
     {"MET_UCHAR", ElementType::u1},
     {"MET_SHORT", ElementType::i2},
     {"MET_USHORT", ElementType::u2},
     {"MET_INT", ElementType::i4},
     {"MET_UINT", ElementType::u4},
     {"MET_LONG_LONG", ElementType::i8},
     {"MET_ULONG_LONG", ElementType::u8},
     {"MET_FLOAT", ElementType::f4},
     {"MET_DOUBLE", ElementType::f8}}};

bool is_metaimage(Beginning& file, const Format& format) {
  const std::string ending = ending_of_data(file.path());
  return format.offset == 0 && (ending == ".mhd" || ending == ".mha");
}

/// Adds the values of a header, and returns where it ends.
std::size_t read_meta_fields(Beginning& file, HeaderFields& fields) {
  const std::string_view text = header_text(file);
  for (std::string_view left = text; !left.empty();) {
    const std::string_view line = next_line(left);
    const std::size_t sign = std::min(line.find('='), line.size());
    const std::string key = lower_case(trimmed(line.substr(0, sign)));
    if (std::ranges::find(meta_keys, key) == meta_keys.end()) continue;
    fields.add(key, trimmed(line.substr(std::min(sign + 1, line.size()))));
    if (key == last_meta_key) return text.size() - left.size();
  }
  fields.fail("ElementDataFile");
}

/// Returns the truth of a value, as MetaIO reads it; empty for another one.
std::optional<bool> truth_of(const std::string& value) {
  const std::string word = lower_case(value);
  if (word == "true" || word == "t" || word == "1") return true;
  if (word == "false" || word == "f" || word == "0") return false;
  return {};
}

/// Returns what a file holds that is not read; empty if it is.
std::string why_not_meta(const HeaderFields& fields, const DataPlace& place) {
  const std::string type = fields.text("elementtype");
  if (truth_of(fields.text("binarydata")) != true) return "numbers as text";
  const std::string compressed = fields.text("compresseddata");
  if (!compressed.empty() && truth_of(compressed) != false) return "compressed numbers";
  const bool is_list = place.file.starts_with("LIST") || place.file.find('%') != std::string::npos;
  if (is_list) return "data in several files";
  const bool is_scaled = fields.real("elementtointensityfunctionslope", 1) != 1 ||
                         fields.real("elementtointensityfunctionoffset", 0) != 0;
  if (is_scaled) return "numbers that a slope or an offset changes";
  const bool is_known = std::ranges::find(meta_types, type, [](const auto& each) {
                          return each.first;
                        }) != meta_types.end();
  return is_known ? "" : "elements of the type " + in_quotes(type);
}

/// Returns the byte order that a header says; empty if it says none.
std::optional<bool> is_big_endian_meta(const HeaderFields& fields) {
  const std::string order = fields.text("binarydatabyteordermsb");
  return truth_of(order.empty() ? fields.text("elementbyteordermsb") : order);
}

std::vector<StoredArray> list_metaimage(Beginning& file, const Format&) {
  HeaderFields fields(file, metaimage_format);
  const std::size_t end = read_meta_fields(file, fields);
  DataPlace place{.file = fields.text(last_meta_key)};
  std::vector<std::uint64_t> shape = fields.reversed_lengths("dimsize");
  if (shape.empty() || shape.size() != fields.size("ndims")) {
    fields.fail("as many lengths in DimSize as NDims says");
  }
  const std::uint64_t channels = fields.size("elementnumberofchannels", 1);
  if (channels != 1) shape.push_back(channels);  // of an element, side by side
  if (std::string why_not = why_not_meta(fields, place); !why_not.empty()) {
    return {{.type = {},
             .type_reason = "from its header",
             .shape = std::move(shape),
             .why_not = std::move(why_not),
             .hint = "save it as .npy: numpy.save(\"x.npy\", SimpleITK.GetArrayFromImage("
                     "SimpleITK.ReadImage(\"" +
                     file.path().filename().string() + "\")))"}};
  }
  const std::string type = fields.text("elementtype");
  const ElementType element =
      std::ranges::find(meta_types, type, [](const auto& each) { return each.first; })->second;
  const std::optional<bool> is_big_endian = is_big_endian_meta(fields);
  if (!is_big_endian && size_of(element) > 1) fields.fail("BinaryDataByteOrderMSB");
  if (place.file == "LOCAL" || place.file == "Local" || place.file == "local") {
    place.file.clear();
    place.begin = end;
  } else if (place.file.empty()) {
    fields.fail("the name of a file or LOCAL for ElementDataFile");
  }
  place.is_at_end = fields.whole("headersize", 0) == -1;
  if (place.file.empty() && fields.whole("headersize", 0) > 0) {
    fields.fail("no HeaderSize with data behind the header");
  }
  if (!place.is_at_end) place.bytes = fields.size("headersize", 0);
  return {array_in_place(file, metaimage_format, std::move(place),
                         stored_type(element, is_big_endian.value_or(false)), std::move(shape))};
}

}  // namespace

const FormatParser metaimage_format{.format = FileFormat::metaimage,
                                    .name = "metaimage",
                                    .title = "MetaImage",
                                    .recognise = is_metaimage,
                                    .list = list_metaimage};

}  // namespace ooc::detail
