
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include <ooc/detail/base/compressed_name.hpp>

#include "base/little_endian.hpp"
#include "base/shape.hpp"
#include "dataset/formats/formats.hpp"

namespace ooc::detail {
namespace {

// A safetensors file consists of the length of the header (eight bytes, little-endian), the header
// (JSON), and the data of the arrays, which follow one another without gaps.
constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t longest_json = 100'000'000;  // the limit of the safetensors library

using Json = nlohmann::json;

struct TypeCode {
  std::string_view code;
  std::uint64_t bits;
  std::optional<ElementType> element{};  // empty: not supported
};

constexpr std::array<TypeCode, 20> type_codes{{{"F64", 64, ElementType::f8},
                                               {"F32", 32, ElementType::f4},
                                               {"F16", 16, ElementType::f2},
                                               {"BF16", 16, ElementType::bf16},
                                               {"I64", 64, ElementType::i8},
                                               {"I32", 32, ElementType::i4},
                                               {"I16", 16, ElementType::i2},
                                               {"I8", 8, ElementType::i1},
                                               {"U64", 64, ElementType::u8},
                                               {"U32", 32, ElementType::u4},
                                               {"U16", 16, ElementType::u2},
                                               {"U8", 8, ElementType::u1},
                                               {"BOOL", 8, ElementType::u1},
                                               {"C64", 64},
                                               {"F8_E4M3", 8},
                                               {"F8_E5M2", 8},
                                               {"F8_E8M0", 8},
                                               {"F6_E2M3", 6},
                                               {"F6_E3M2", 6},
                                               {"F4", 4}}};

/// Parses the header, event by event, so that its memory is that of the arrays. Any deviation
/// throws Error(bad_input).
class JsonHeaderParser final : public nlohmann::json_sax<Json> {
 public:
  /// `data_offset`: where the data of the arrays begin in the file.
  JsonHeaderParser(const std::filesystem::path& file, std::uint64_t data_offset)
      : file_(file), data_offset_(data_offset) {}

  std::vector<StoredArray> parse(std::string_view text) {
    if (!text.starts_with('{')) fail("'{' as its first character");
    Json::sax_parse(text.begin(), text.end(), this);
    require_other_names();
    return std::move(arrays_);
  }

  bool null() override { fail_value(); }
  bool boolean(bool) override { fail_value(); }
  bool number_integer(std::int64_t) override { fail_value(); }
  bool number_float(double, const std::string&) override { fail_value(); }
  bool binary(Json::binary_t&) override { fail_value(); }

  bool number_unsigned(std::uint64_t value) override {
    if (place_ != Place::numbers) fail_value();
    if (numbers_->size() == most_lengths) fail("no more than 64 numbers in a list");
    numbers_->push_back(value);
    return true;
  }

  bool string(std::string& text) override {
    if (place_ == Place::metadata) return true;
    if (place_ != Place::array || key_ != "dtype") fail_value();
    dtype_ = text;
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ != Place::outside && place_ != Place::names) fail_value();
    if (place_ == Place::outside) {
      place_ = Place::names;
    } else {
      place_ = name_ == "__metadata__" ? Place::metadata : Place::array;
    }
    return true;
  }

  bool key(std::string& text) override {
    if (place_ == Place::names) {
      name_ = text;
      if (text.find('\0') != std::string::npos) fail("names without null characters");
    } else if (place_ == Place::array) {
      const bool is_new = (text == "dtype" && !dtype_) || (text == "shape" && !shape_) ||
                          (text == "data_offsets" && !offsets_);
      if (!is_new) fail("each of the keys dtype, shape and data_offsets once, and no other");
      key_ = text;
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::array) add_array();
    place_ = place_ == Place::names ? Place::outside : Place::names;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::array || key_ == "dtype") fail_value();
    place_ = Place::numbers;
    numbers_ = &(key_ == "shape" ? shape_ : offsets_).emplace();
    return true;
  }

  bool end_array() override {
    place_ = Place::array;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    const std::size_t offset = length_bytes + position - 1;  // it has read this character, too
    throw Error(ErrorKind::bad_input,
                file_.string() + ": safetensors header not understood at byte " +
                    std::to_string(offset) + ": it is no JSON",
                {.path = file_, .offset = offset});
  }

 private:
  enum class Place { outside, names, metadata, array, numbers };

  [[noreturn]] void fail(const std::string& expected) const {
    throw not_understood(file_, "safetensors header not understood" +
                                    (name_.empty() ? "" : " at " + in_quotes(name_)) +
                                    ": expected " + expected);
  }

  [[noreturn]] void fail_value() const {
    fail("an object of dtype, a string, and shape and data_offsets, lists of whole numbers");
  }

  void add_array() {
    if (!dtype_ || !shape_ || !offsets_) fail("the keys dtype, shape and data_offsets");
    if (arrays_.size() == most_arrays) fail("no more than 1,000,000 arrays");
    if (offsets_->size() != 2 || offsets_->front() > offsets_->back() ||
        offsets_->back() > std::numeric_limits<std::uint64_t>::max() - data_offset_) {
      fail("two data_offsets, the second of which is not less");
    }
    StoredArray array{.name = name_,
                      .type = {},
                      .type_reason = "from its header",
                      .offset = data_offset_ + offsets_->front(),
                      .bytes = offsets_->back() - offsets_->front(),
                      .shape = std::move(*shape_)};
    const auto type = std::ranges::find(type_codes, *dtype_, &TypeCode::code);
    if (type != type_codes.end()) {
      const auto bits = product_of(array.shape, type->bits);
      if (!bits || *bits % 8 != 0 || *bits / 8 != array.bytes) {
        fail("data_offsets that fit dtype and shape");
      }
    }
    if (type == type_codes.end() || !type->element) {
      array.why_not = (type == type_codes.end() ? in_quotes(*dtype_) : *dtype_) + " numbers";
    } else {
      array.type = {*type->element, std::endian::native == std::endian::big};
      array.type.is_bool = type->code == "BOOL";
      if (array.type.is_bool) array.type_reason += ": bool, 0 or 1";
    }
    arrays_.push_back(std::move(array));
    dtype_.reset();
    shape_.reset();
    offsets_.reset();
  }

  void require_other_names() {
    std::vector<std::string_view> names;
    for (const StoredArray& array : arrays_) names.push_back(array.name);
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice == names.end()) return;
    name_ = *twice;
    fail("each name once");
  }

  const std::filesystem::path& file_;
  const std::uint64_t data_offset_;
  Place place_ = Place::outside;
  std::string name_{}, key_{};
  std::optional<std::string> dtype_{};
  std::optional<std::vector<std::uint64_t>> shape_{}, offsets_{};
  std::vector<std::uint64_t>* numbers_ = nullptr;  // of the list that is parsed
  std::vector<StoredArray> arrays_{};
};

/// Throws Error(bad_input) unless the arrays lie one behind another, up to the end of the file.
void require_no_gaps(Beginning& file, const std::vector<StoredArray>& arrays,
                     std::uint64_t data_offset) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;  // offsets and sizes
  for (const StoredArray& array : arrays) places.emplace_back(array.offset, array.bytes);
  std::ranges::sort(places);
  std::uint64_t end = data_offset;
  for (const auto& [offset, bytes] : places) {
    if (offset != end) {
      throw not_understood(file.path(), offset < end
                                            ? "its arrays overlap at byte " + std::to_string(offset)
                                            : "no array has byte " + std::to_string(end));
    }
    end += bytes;
  }
  if (const std::uint64_t behind = bytes_behind(file, end); behind != 0) {
    throw not_understood(file.path(), "has bytes behind its arrays: " + std::to_string(behind));
  }
}

/// Recognises a file also by its beginning: a plausible length, and an object with a member. An
/// offset skips the header, as it does that of a format that is not parsed.
bool is_safetensors(Beginning& file, const Format& format) {
  if (format.offset != 0) return false;
  if (ending_of_data(file.path()) == ".safetensors") return true;
  constexpr std::string_view object{"{\""};
  const std::string_view text = file.first_text(length_bytes + object.size());
  if (text.size() < length_bytes || text.substr(length_bytes) != object) return false;
  const std::uint64_t length = number_in(text, 0, length_bytes);
  return length <= longest_json && file.bytes().value_or(~0ull) >= length_bytes + length;
}

std::vector<StoredArray> list_arrays(Beginning& file) {
  const std::string_view begin = file.first_text(length_bytes);
  if (begin.size() < length_bytes) {
    throw not_understood(file.path(), "has no header of a safetensors file");
  }
  const std::uint64_t length = number_in(begin, 0, length_bytes);
  if (length > longest_json) {
    throw not_understood(file.path(), "its safetensors header claims " + std::to_string(length) +
                                          " bytes; no more than 100000000 are read");
  }
  const std::uint64_t data_offset = length_bytes + length;
  const std::string_view text = file.first_text(data_offset);
  if (text.size() < data_offset) {
    throw not_understood(file.path(), "ends within its safetensors header");
  }
  std::vector<StoredArray> arrays =
      JsonHeaderParser(file.path(), data_offset).parse(text.substr(length_bytes));
  require_no_gaps(file, arrays, data_offset);
  return arrays;
}

std::vector<StoredArray> list_safetensors(Beginning& file, const Format& format) {
  try {
    return list_arrays(file);
  } catch (const Error& error) {
    const bool is_meant =
        format.file != FileFormat::automatic || ending_of_data(file.path()) == ".safetensors";
    if (is_meant) throw;
    ErrorDetails details = error.details();  // other data may begin like it by chance
    details.remedies.push_back({RemedyAction::set, "Format::file", "raw"});
    throw Error(error.kind(), error.what(), std::move(details));
  }
}

}  // namespace

const FormatParser safetensors_format{.format = FileFormat::safetensors,
                                      .name = "safetensors",
                                      .title = "safetensors",
                                      .recognise = is_safetensors,
                                      .list = list_safetensors};

}  // namespace ooc::detail
