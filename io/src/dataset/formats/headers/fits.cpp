#include <ooc/detail/base/compressed_name.hpp>
#include <ooc/detail/base/letters.hpp>
#include <ooc/detail/base/units.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/shape.hpp"
#include "dataset/formats/headers/header_fields.hpp"
#include "dataset/formats/headers/record_codec.hpp"

namespace ooc::detail {
namespace {

// A FITS file consists of units. Each begins with a header, which is cards of 80 characters up to
// the card END, and has its data behind it. Both fill whole blocks.
constexpr std::size_t card_bytes = 80, keyword_bytes = 8, block_bytes = 2880;
constexpr std::uint64_t most_blocks = 10'000;  // of a header
constexpr std::string_view first_card = "SIMPLE  =                    T";

constexpr std::array<std::string_view, 11> meant_keywords{"SIMPLE", "XTENSION", "BITPIX", "NAXIS",
                                                          "PCOUNT", "GCOUNT",   "GROUPS", "BSCALE",
                                                          "BZERO",  "BLANK",    "ZIMAGE"};

/// True for keywords that say which data a unit has and what they mean.
bool is_meant(std::string_view keyword) {
  if (std::ranges::find(meant_keywords, keyword) != meant_keywords.end()) return true;
  return keyword.starts_with("NAXIS") && is_digit(keyword.back());
}

/// Returns the value of a card: a number or a letter as it is, a string without its quotes. Empty
/// if a string has no end.
std::optional<std::string> value_of(std::string_view card) {
  std::string_view text = trimmed(card.substr(keyword_bytes + 2));
  if (!text.starts_with('\'')) return std::string(trimmed(text.substr(0, text.find('/'))));
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\'' && !text.substr(i).starts_with("''")) {
      return value.substr(0, value.find_last_not_of(' ') + 1);
    }
    if (text[i] == '\'') ++i;  // two quotes stand for one
    value += text[i];
  }
  return {};
}

/// Returns the type of integers of the same size with a sign instead of none, or without one.
ElementType with_other_sign(ElementType element) {
  using enum ElementType;
  constexpr std::array<std::pair<ElementType, ElementType>, 4> pairs{
      {{u1, i1}, {i2, u2}, {i4, u4}, {i8, u8}}};
  return std::ranges::find(pairs, element, &std::pair<ElementType, ElementType>::first)->second;
}

/// Reads the units of a file; of a stream the first one.
class FitsReader {
 public:
  explicit FitsReader(Beginning& file) : file_(file) {}

  std::vector<StoredArray> arrays() {
    std::uint64_t end = 0;
    for (std::size_t number = 0; number == 0 || !is_end(end); ++number) {
      if (number == most_arrays) fail("no more than 1,000,000 units");
      read_cards(end, number == 0 ? "SIMPLE" : "XTENSION");
      if (auto array = array_of_unit(end)) {
        array->alias = std::to_string(number);
        if (!array->why_not.empty()) array->hint = hint_for(array->alias);
        arrays_.push_back(std::move(*array));
      }
      end = round_up(end_, std::uint64_t{block_bytes});
    }
    if (file_.file() == nullptr && arrays_.empty()) throw no_first_array();
    name_arrays();
    return std::move(arrays_);
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw broken_header(file_, fits_format, expected);
  }

  Error no_first_array() const {
    return {ErrorKind::usage,
            file_.path().string() + ": a stream of FITS is read up to its first header",
            {.why = "that one has no array", .hint = "save it to a file"}};
  }

  /// True if no unit begins at a block. The padding behind the last one may be missing.
  bool is_end(std::uint64_t block) const {
    return file_.file() == nullptr || block >= file_.file()->size();
  }

  /// Returns the block at an offset. Valid until the next call.
  std::string_view block_at(std::uint64_t offset) {
    if (file_.file() == nullptr) {
      const std::string_view all = file_.first_text(offset + block_bytes);
      if (all.size() < offset + block_bytes) fail("a card END");
      return all.substr(offset);
    }
    if (file_.file()->size() - offset < block_bytes) {
      fail("a header of whole blocks and a card END at byte " + std::to_string(offset));
    }
    read_exactly(*file_.file(), offset, std::as_writable_bytes(std::span(block_)));
    return {block_.data(), block_.size()};
  }

  /// Reads the header of a unit, and notes where its data begin. `first`: its first keyword.
  void read_cards(std::uint64_t begin, std::string_view first) {
    cards_.clear();
    extension_name_.clear();
    for (std::uint64_t number = 0; number < most_blocks; ++number) {
      const std::string_view block = block_at(begin + number * block_bytes);
      for (std::size_t at = 0; at < block_bytes; at += card_bytes) {
        const std::string_view card = block.substr(at, card_bytes);
        const std::string_view keyword = trimmed(card.substr(0, keyword_bytes));
        if (number == 0 && at == 0 && keyword != first) {
          fail("the keyword " + std::string(first) + " at byte " + std::to_string(begin));
        }
        if (keyword == "END") {
          data_ = begin + (number + 1) * block_bytes;
          return;
        }
        add(keyword, card);
      }
    }
    fail("no more than 10,000 blocks of a header");
  }

  void add(std::string_view keyword, std::string_view card) {
    const bool is_name = keyword == "EXTNAME" && extension_name_.empty();
    if (!card.substr(keyword_bytes).starts_with("= ") || !(is_name || is_meant(keyword))) return;
    std::optional<std::string> value = value_of(card);
    if (!value) fail("a string of " + std::string(keyword) + " to end in its card");
    if (is_name) {
      const auto is_plain = [](char letter) { return letter >= ' ' && letter <= '~'; };
      if (!std::ranges::all_of(*value, is_plain)) fail("a name of plain characters");
      extension_name_ = std::move(*value);
    } else {
      cards_.add(keyword, *value);
    }
  }

  std::vector<std::uint64_t> shape() const {
    const std::uint64_t dimensions = cards_.size("NAXIS");
    if (dimensions > most_lengths) fail("up to 64 dimensions");
    std::vector<std::uint64_t> shape;
    for (std::uint64_t i = dimensions; i > 0; --i) {  // the first one varies fastest
      shape.push_back(cards_.size("NAXIS" + std::to_string(i)));
    }
    return shape;
  }

  ElementType element() const {
    switch (cards_.whole("BITPIX")) {
      case 8: return ElementType::u1;
      case 16: return ElementType::i2;
      case 32: return ElementType::i4;
      case 64: return ElementType::i8;
      case -32: return ElementType::f4;
      case -64: return ElementType::f8;
      default: fail("BITPIX to be 8, 16, 32, 64, -32 or -64");
    }
  }

  /// Returns the array of the unit that was read, and notes where its data end. Empty if it has
  /// none.
  std::optional<StoredArray> array_of_unit(std::uint64_t begin) {
    if (begin == 0 && cards_.text("SIMPLE") != "T") fail("SIMPLE to be T");
    end_ = data_;
    std::vector<std::uint64_t> lengths = shape();
    const DType type = stored_type(element(), true);
    if (lengths.empty()) return {};
    const std::uint64_t bytes = data_bytes(lengths, size_of(type));
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - block_bytes;
    if (bytes > most - data_) fail("data that a file can hold");
    end_ = data_ + bytes;
    bytes_behind(file_, end_);  // throws if the file is shorter
    StoredArray array{.type = type,
                      .type_reason = "from its header",
                      .offset = data_,
                      .bytes = bytes,
                      .shape = std::move(lengths)};
    array.why_not = why_not();
    if (array.why_not.empty() && has_inverted_signs()) {
      array.type = stored_type(with_other_sign(type.element), true);
      array.records = inverted_signs(size_of(type));
    }
    array.name = extension_name_;
    return array;
  }

  /// Returns the size of the data, with the parameters of groups or the heap of a table.
  std::uint64_t data_bytes(std::span<const std::uint64_t> lengths, std::uint64_t element_bytes) {
    const std::uint64_t parameters = cards_.size("PCOUNT", 0), groups = cards_.size("GCOUNT", 1);
    const bool has_groups = cards_.text("GROUPS") == "T" && lengths.back() == 0;  // NAXIS1
    auto bytes = product_of(has_groups ? lengths.first(lengths.size() - 1) : lengths);
    if (bytes && __builtin_add_overflow(*bytes, parameters, &*bytes)) bytes.reset();
    if (bytes) bytes = product_of(std::array{groups, element_bytes}, *bytes);
    if (!bytes) fail("data that a file can hold");
    return *bytes;
  }

  /// Returns what the unit holds, if it is no array of numbers that mean themselves.
  std::string why_not() const {
    const std::string kind = cards_.text("XTENSION");
    if (cards_.text("ZIMAGE") == "T") return "tiles of a compressed image";
    if (kind == "BINTABLE" || kind == "TABLE" || kind == "A3DTABLE") return "columns of a table";
    if (!kind.empty() && kind != "IMAGE") return "data of the extension " + in_quotes(kind);
    if (cards_.whole("PCOUNT", 0) != 0 || cards_.whole("GCOUNT", 1) != 1 ||
        cards_.text("GROUPS") == "T") {
      return "groups of arrays";
    }
    const bool is_scaled = cards_.real("BSCALE", 1) != 1 || cards_.real("BZERO", 0) != 0;
    if (is_scaled && !has_inverted_signs()) return "numbers that BSCALE and BZERO change";
    const bool is_integer = cards_.whole("BITPIX") > 0;
    if (is_integer && !cards_.text("BLANK").empty()) return "integers of which BLANK means none";
    return {};
  }

  /// True if the integers are unsigned ones, or signed bytes: BZERO is half of their range then,
  /// which is the same as an inverted sign bit.
  bool has_inverted_signs() const {
    const std::int64_t bits = cards_.whole("BITPIX");
    if (bits < 0 || cards_.real("BSCALE", 1) != 1) return false;
    const long double half = std::ldexp(1.0L, static_cast<int>(bits) - 1);
    return cards_.real("BZERO", 0) == (bits == 8 ? -half : half);
  }

  std::string hint_for(const std::string& unit) const {
    const bool is_table =
        cards_.text("XTENSION").ends_with("TABLE") && cards_.text("ZIMAGE") != "T";
    return "save it as .npy: numpy.save(\"x.npy\", astropy.io.fits.getdata(\"" +
           file_.path().filename().string() + "\", " + unit + ")" +
           (is_table ? "[\"COLUMN\"])" : ")");
  }

  /// An array has the name of its extension, if no other one has it, or its number.
  void name_arrays() {
    std::map<std::string, std::size_t> counts;
    for (const StoredArray& array : arrays_) ++counts[array.name];
    for (StoredArray& array : arrays_) {
      const bool is_number = std::ranges::all_of(array.name, is_digit);  // or there is none
      if (is_number || counts[array.name] > 1) array.name = array.alias;
    }
  }

  Beginning& file_;
  std::array<char, block_bytes> block_{};
  HeaderFields cards_{file_, fits_format};  // of the unit
  std::string extension_name_{};
  std::uint64_t data_ = 0, end_ = 0;  // of the data of the unit
  std::vector<StoredArray> arrays_{};
};

/// Recognises a file by its name or its first card. An offset skips the header, as it does that of
/// a format that is not parsed.
bool is_fits(Beginning& file, const Format& format) {
  if (format.offset != 0) return false;
  const std::string ending = ending_of_data(file.path());
  return ending == ".fits" || ending == ".fts" || file.first_text(first_card.size()) == first_card;
}

std::vector<StoredArray> list_fits(Beginning& file, const Format&) {
  return FitsReader(file).arrays();
}

}  // namespace

const FormatParser fits_format{.format = FileFormat::fits,
                               .name = "fits",
                               .title = "FITS",
                               .recognise = is_fits,
                               .list = list_fits};

}  // namespace ooc::detail
