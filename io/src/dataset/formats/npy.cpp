#include "base/little_endian.hpp"
#include "base/shape.hpp"
#include "dataset/formats/formats.hpp"
#include "dataset/formats/npy_type.hpp"

#include <ooc/detail/base/compressed_name.hpp>
#include <ooc/detail/base/letters.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace ooc::detail {
namespace {

// A .npy file consists of magic bytes, a major and a minor version (one byte each), the length of
// the header (two bytes in version 1, four in 2 and 3), the header (a Python dictionary as text),
// and the data.
constexpr std::string_view magic{"\x93NUMPY", 6};
constexpr std::size_t version_end = magic.size() + 2;
constexpr std::size_t longest_header = 64 * KiB;
constexpr std::size_t most_dimensions = 64;  // NumPy's own limit
constexpr std::size_t most_fields = 1024;    // with padding; a header has room for five times more

struct Header {
  NpyDescr descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

std::string read_text(Beginning& file, std::size_t offset, std::size_t bytes) {
  const std::string_view text = file.first_text(offset + bytes);
  if (text.size() < offset + bytes) {
    throw not_understood(file.path(), "ends within its .npy header");
  }
  return std::string(text.substr(offset));
}

/// Parses the form of dictionary that NumPy writes. Nothing is evaluated. Any deviation throws
/// Error(bad_input) with the byte offset.
class NpyHeaderParser {
 public:
  NpyHeaderParser(const std::filesystem::path& file, std::string_view text, std::size_t text_offset)
      : file_(file), text_(text), text_offset_(text_offset) {}

  Header parse() {
    expect('{');
    while (!accept('}')) {
      parse_entry();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (position_ != text_.size()) fail("nothing after the closing brace");
    if (!descr_ || !fortran_order_ || !shape_) fail("the keys descr, fortran_order and shape");
    return {std::move(*descr_), *fortran_order_, std::move(*shape_)};
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    const std::size_t offset = text_offset_ + position_;
    throw Error(ErrorKind::bad_input,
                file_.string() + ": .npy header not understood at byte " + std::to_string(offset) +
                    ": expected " + expected,
                {.path = file_, .offset = offset});
  }

  void parse_entry() {
    const std::string key = parse_string("a key");
    expect(':');
    if (key == "descr" && !descr_) {
      descr_ = parse_descr();
    } else if (key == "fortran_order" && !fortran_order_) {
      fortran_order_ = parse_bool();
    } else if (key == "shape" && !shape_) {
      shape_ = parse_shape();
    } else {
      fail("each of the keys descr, fortran_order and shape once, and no other");
    }
  }

  NpyDescr parse_descr() {
    if (!accept('[')) return {.code = parse_string("a type"), .fields = {}};
    NpyDescr descr;
    while (!accept(']')) {
      if (descr.fields.size() == most_fields) fail("no more than 1024 fields");
      descr.fields.push_back(parse_field());
      if (accept(',')) continue;
      expect(']');
      break;
    }
    if (descr.fields.empty()) throw no_fields(file_);
    return descr;
  }

  /// A field is a tuple of its name, its type and, if it has several elements, their shape.
  NpyField parse_field() {
    expect('(');
    if (accept('(')) {
      parse_string("a title");
      expect(',');
      const std::string name = parse_string("a name");
      throw not_understood(file_, "field " + in_quotes(name) + " has a title besides its name",
                           "numpy.save(\"plain.npy\", array.astype([(name, array.dtype[name]) for "
                           "name in array.dtype.names]))");
    }
    NpyField field{.name = parse_string("a name"), .code = {}, .shape = {}};
    expect(',');
    skip_space();
    if (peek() == '[') {
      throw not_understood(file_, "field " + in_quotes(field.name) + " is a struct of its own",
                           "import numpy.lib.recfunctions as r; numpy.save(\"flat.npy\", "
                           "r.repack_fields(array, recurse=True).view(list(r.flatten_descr("
                           "array.dtype))))");
    }
    field.code = parse_string("a type");
    if (accept(',')) field.shape = parse_shape();
    expect(')');
    return field;
  }

  bool parse_bool() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(position_).starts_with(word)) continue;
      position_ += word.size();
      return value;
    }
    fail("True or False");
  }

  std::vector<std::uint64_t> parse_shape() {
    std::vector<std::uint64_t> shape;
    expect('(');
    while (!accept(')')) {
      if (shape.size() == most_dimensions) fail("no more than 64 dimensions");
      shape.push_back(parse_dimension());
      if (accept(',')) continue;
      // In Python "(3)" is a number; a shape of one dimension is written "(3,)".
      if (shape.size() == 1) fail("',' after the only dimension");
      expect(')');
      break;
    }
    return shape;
  }

  std::uint64_t parse_dimension() {
    skip_space();
    const std::size_t begin = position_;
    std::uint64_t value = 0;
    while (is_digit(peek())) {
      const auto digit = static_cast<std::uint64_t>(peek() - '0');
      if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) {
        fail("a dimension below 2^64");
      }
      value = value * 10 + digit;
      ++position_;
    }
    const std::size_t digits = position_ - begin;
    if (digits == 0 || (digits > 1 && text_[begin] == '0')) fail("a dimension");
    if (peek() == 'L') ++position_;  // Python 2 wrote long integers with this suffix
    return value;
  }

  std::string parse_string(const std::string& what) {
    skip_space();
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail(what + " in quotes");
    const std::size_t begin = ++position_;
    while (peek() != quote) {
      if (peek() < ' ' || peek() > '~' || peek() == '\\') fail(what + " of plain characters");
      ++position_;
    }
    return std::string{text_.substr(begin, position_++ - begin)};
  }

  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  void skip_space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') ++position_;
  }

  bool accept(char wanted) {
    skip_space();
    if (peek() != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail(std::string{"'"} + wanted + "'");
  }

  const std::filesystem::path& file_;
  std::string_view text_;
  std::size_t text_offset_;  // offset of the text in the file
  std::size_t position_ = 0;
  std::optional<NpyDescr> descr_;
  std::optional<bool> fortran_order_;
  std::optional<std::vector<std::uint64_t>> shape_;
};

bool is_row_major(const Header& header) {
  const auto longer_than_one =
      std::ranges::count_if(header.shape, [](std::uint64_t dimension) { return dimension > 1; });
  const bool is_empty = std::ranges::find(header.shape, 0u) != header.shape.end();
  return !header.fortran_order || longer_than_one <= 1 || is_empty;
}

/// Position of the header's text in the file.
struct Place {
  std::size_t offset, bytes;
  std::string version;
};

Place find_header(Beginning& file) {
  const std::string version = read_text(file, magic.size(), 2);
  const int major = static_cast<unsigned char>(version[0]);
  const int minor = static_cast<unsigned char>(version[1]);
  std::string version_text = std::to_string(major) + "." + std::to_string(minor);
  if (major < 1 || major > 3 || minor != 0) {
    throw not_understood(file.path(),
                         ".npy version " + version_text + " is not known, only 1.0 to 3.0 are");
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::string text = read_text(file, version_end, length_bytes);
  const std::uint64_t length = number_in(text, 0, length_bytes);
  if (length > longest_header) {
    throw not_understood(file.path(), "its .npy header claims " + std::to_string(length) +
                                          " bytes; no more than 65536 are read");
  }
  return {version_end + length_bytes, length, std::move(version_text)};
}

void require_magic(Beginning& file) {
  const std::string_view begin = file.first_text(magic.size());
  if (begin.empty()) throw not_understood(file.path(), "is empty, not a .npy file");
  if (begin != magic) {
    throw not_understood(file.path(), "is named .npy but does not begin like a .npy file",
                         "if it holds raw numbers, give it another ending, such as .f32");
  }
}

/// Returns the type that a header declares. bfloat16, for which NumPy has no code, is saved as two
/// opaque bytes: they are read so if the user says it.
DType type_of(const std::filesystem::path& file, const NpyDescr& descr, const Format& format) {
  const bool has_two_bytes = descr.fields.empty() && descr.code.ends_with("V2") &&
                             descr.code.find_first_not_of("<>=|V2") == std::string::npos;
  if (!has_two_bytes) return npy_type(file, descr);
  if (format.type && format.type->element == ElementType::bf16) return *format.type;
  throw Error(ErrorKind::bad_input,
              file.string() + ": holds opaque bytes (" + in_quotes(descr.code) +
                  "), which are not supported",
              {.path = file,
               .why = "bfloat16 numbers are saved so, and others",
               .remedies = {{RemedyAction::set, "Format::type", "bf16", "if they are bfloat16"}}});
}

bool is_npy(Beginning& file, const Format& /*format*/) {
  return ending_of_data(file.path()) == ".npy" || file.first_text(magic.size()) == magic;
}

std::vector<StoredArray> list_npy(Beginning& file, const Format& format) {
  require_magic(file);
  Place place = find_header(file);
  const std::string text = read_text(file, place.offset, place.bytes);
  Header header = NpyHeaderParser{file.path(), text, place.offset}.parse();
  const DType type = type_of(file.path(), header.descr, format);
  const bool by_columns = !is_row_major(header);
  const std::uint64_t offset = place.offset + place.bytes;
  const std::optional<std::uint64_t> bytes = product_of(header.shape, size_of(type));
  if (!bytes || *bytes > std::numeric_limits<std::uint64_t>::max() - offset) {
    throw not_understood(file.path(), "its .npy header claims more data than a file can hold");
  }
  const std::uint64_t behind = bytes_behind(file, offset + *bytes);
  std::string type_reason = type.is_bool ? "from its header: bool, 0 or 1" : "from its header";
  if (type.element == ElementType::bf16) type_reason = "asked for";
  return {{.type = type,
           .type_reason = std::move(type_reason),
           .offset = offset,
           .bytes = *bytes,
           .shape = std::move(header.shape),
           .version = std::move(place.version),
           .by_columns = by_columns,
           .bytes_behind = behind}};
}

}  // namespace

const FormatParser npy_format{.format = FileFormat::npy,
                              .name = "npy",
                              .title = ".npy",
                              .recognise = is_npy,
                              .list = list_npy};

bool begins_like_npy(const File& file) {
  if (file.size() < magic.size()) return false;
  std::string text(magic.size(), '\0');
  read_exactly(file, 0, std::as_writable_bytes(std::span(text)));
  return text == magic;
}

}  // namespace ooc::detail
