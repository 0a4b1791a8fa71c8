#include <ooc/detail/base/compressed_name.hpp>
#include <ooc/dtype.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataset/formats/headers/header_rules.hpp"

namespace ooc::detail {
namespace {

using namespace std::string_view_literals;

// A NIfTI-1 file has a header of 348 bytes, whose numbers have the byte order of the data, perhaps
// extensions, and the data. The magic bytes of a header without data are others.
constexpr std::size_t nifti_bytes = 348, nifti_magic = 344, least_nifti_offset = 352;
constexpr auto nifti_with_data = "n+1\0"sv, nifti_without_data = "ni1\0"sv;

struct NiftiType {
  std::int16_t code;
  ElementType element;
};

constexpr std::array<NiftiType, 10> nifti_types{{{2, ElementType::u1},
                                                 {4, ElementType::i2},
                                                 {8, ElementType::i4},
                                                 {16, ElementType::f4},
                                                 {64, ElementType::f8},
                                                 {256, ElementType::i1},
                                                 {512, ElementType::u2},
                                                 {768, ElementType::u4},
                                                 {1024, ElementType::i8},
                                                 {1280, ElementType::u8}}};

/// The numbers of a header.
class NiftiHeader {
 public:
  explicit NiftiHeader(std::string_view text)
      : text_(text), is_big_endian_(number_at(text, 0, 4, true) == nifti_bytes) {}

  bool is_big_endian() const { return is_big_endian_; }
  std::int16_t small(std::size_t offset) const {
    return static_cast<std::int16_t>(number_at(text_, offset, 2, is_big_endian_));
  }
  float real(std::size_t offset) const {
    return std::bit_cast<float>(
        static_cast<std::uint32_t>(number_at(text_, offset, 4, is_big_endian_)));
  }

 private:
  std::string_view text_;
  bool is_big_endian_;
};

/// True if a header begins with its own size, in either byte order.
bool has_nifti_size(std::string_view text) {
  return number_at(text, 0, 4, false) == nifti_bytes || number_at(text, 0, 4, true) == nifti_bytes;
}

bool is_nifti(Beginning& file, const Format& format) {
  if (format.offset != 0) return false;
  if (ending_of_data(file.path()) == ".nii") return true;
  const std::string_view text = file.first_text(nifti_bytes);
  if (text.size() < nifti_bytes) return false;
  const std::string_view magic = text.substr(nifti_magic);
  return has_nifti_size(text) && (magic == nifti_with_data || magic == nifti_without_data);
}

/// Returns the lengths of the dimensions, of which the first one varies fastest in the file.
std::vector<std::uint64_t> nifti_shape(const Beginning& file, const NiftiHeader& header) {
  constexpr std::size_t lengths = 40;  // behind their number
  constexpr std::int16_t most_dimensions = 7;
  const std::int16_t dimensions = header.small(lengths);
  if (dimensions < 1 || dimensions > most_dimensions) {
    throw broken_header(file, nifti_format, "1 to 7 dimensions");
  }
  std::vector<std::uint64_t> shape;
  for (std::int16_t i = dimensions; i > 0; --i) {
    const std::int16_t length = header.small(lengths + 2 * static_cast<std::size_t>(i));
    if (length < 1) throw broken_header(file, nifti_format, "lengths of 1 and more");
    shape.push_back(static_cast<std::uint64_t>(length));
  }
  return shape;
}

/// Returns where the data begin.
std::uint64_t nifti_offset(const Beginning& file, const NiftiHeader& header) {
  const float offset = header.real(108);
  constexpr float most_bytes = 1 << 30;
  const bool is_right = offset >= float{least_nifti_offset} && offset <= most_bytes &&
                        offset == std::floor(offset);  // false for NaN
  if (!is_right) throw broken_header(file, nifti_format, "vox_offset of 352 and more");
  return static_cast<std::uint64_t>(offset);
}

/// True if a value means itself: a slope that is 0, or not there, has no meaning.
bool is_not_scaled(float slope, float intercept) {
  return slope == 0 || std::isnan(slope) || (slope == 1 && intercept == 0);
}

std::vector<StoredArray> list_nifti(Beginning& file, const Format&) {
  const std::string_view text = file.first_text(nifti_bytes);
  if (text.size() < nifti_bytes) throw broken_header(file, nifti_format, "348 bytes");
  if (!has_nifti_size(text)) {
    throw broken_header(file, nifti_format, "the number 348 at its beginning");
  }
  const NiftiHeader header(text);
  const std::string name = file.path().filename().string();
  const std::string hint = "numpy.save(\"x.npy\", nibabel.load(\"" + name + "\").get_fdata())";
  if (text.substr(nifti_magic) == nifti_without_data) {
    throw not_understood(file.path(), "is a NIfTI header whose data are in another file (.img)",
                         hint);
  }
  if (text.substr(nifti_magic) != nifti_with_data) {
    throw broken_header(file, nifti_format, "the magic bytes n+1");
  }
  const std::int16_t code = header.small(70), bits = header.small(72);
  const auto* const type = std::ranges::find(nifti_types, code, &NiftiType::code);
  if (type == nifti_types.end()) {
    return {{.type = {},
             .type_reason = "from its header",
             .why_not = "elements of the data type " + std::to_string(code),
             .hint = hint}};
  }
  if (bits != static_cast<std::int16_t>(8 * size_of(type->element))) {
    throw broken_header(file, nifti_format, "bitpix that fits the data type");
  }
  const DType stored = stored_type(type->element, header.is_big_endian());
  StoredArray array =
      array_behind(file, stored, nifti_shape(file, header), nifti_offset(file, header));
  require_end(file, nifti_format, array.offset + array.bytes);
  if (!is_not_scaled(header.real(112), header.real(116))) {
    array.why_not = "numbers that scl_slope and scl_inter change";
    array.hint = hint;
  }
  return {std::move(array)};
}

}  // namespace

const FormatParser nifti_format{.format = FileFormat::nifti,
                                .name = "nifti",
                                .title = "NIfTI",
                                .recognise = is_nifti,
                                .list = list_nifti};

}  // namespace ooc::detail
