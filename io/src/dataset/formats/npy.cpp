#include "dataset/formats/formats.hpp"
#include "dataset/product_of.hpp"

#include <ooc/io/error.hpp>
#include <ooc/io/units.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace ooc {
namespace {

// A .npy file consists of magic bytes, a major and a minor version (one byte each), the length of
// the header (two bytes in version 1, four in 2 and 3), the header (a Python dictionary as text),
// and the data.
constexpr std::string_view magic{"\x93NUMPY", 6};
constexpr std::size_t version_end = magic.size() + 2;
constexpr std::size_t longest_header = 64 * KiB;
constexpr std::size_t most_dimensions = 64;  // NumPy's own limit

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

Error not_understood(const File& file, const std::string& problem, const std::string& hint = {}) {
  return Error(ErrorKind::bad_input, file.path().string() + ": " + problem,
               {.path = file.path(), .hint = hint});
}

std::string read_text(const File& file, std::uint64_t offset, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(file.buffered(), text.data() + done, bytes - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw Error::from_errno(ErrorKind::input, "read", errno, file.path(), offset + done);
    }
    if (got == 0) throw not_understood(file, "ends within its .npy header");
    done += static_cast<std::size_t>(got);
  }
  return text;
}

/// Parses the form of dictionary that NumPy writes. Nothing is evaluated. Any deviation throws
/// Error(bad_input) with the byte offset.
class HeaderParser {
 public:
  HeaderParser(const File& file, std::string_view text, std::size_t text_offset)
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
                file_.path().string() + ": .npy header not understood at byte " +
                    std::to_string(offset) + ": expected " + expected,
                {.path = file_.path(), .offset = offset});
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

  std::string parse_descr() {
    skip_space();
    if (peek() == '[') {
      throw not_understood(file_, "holds records of several fields, not numbers of one type",
                           "save one field: numpy.save(\"field.npy\", array[\"name\"])");
    }
    return parse_string("a type");
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
    while (peek() >= '0' && peek() <= '9') {
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

  const File& file_;
  std::string_view text_;
  std::size_t text_offset_;  // offset of the text in the file
  std::size_t position_ = 0;
  std::optional<std::string> descr_;
  std::optional<bool> fortran_order_;
  std::optional<std::vector<std::uint64_t>> shape_;
};

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
    {"V", "opaque bytes", "save array.view(numpy.uint8), or numpy.uint16 for bfloat16"},
    {"M", "dates", "save array.view(numpy.int64)"},
    {"m", "time spans", "save array.view(numpy.int64)"},
}};

/// Returns a type code in quotes for a message. Truncated, because a malicious header can make it
/// long.
std::string quoted(const std::string& descr) {
  constexpr std::size_t most = 32;
  return "'" + descr.substr(0, most) + (descr.size() > most ? "...'" : "'");
}

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

/// The element type that a header declares.
struct Elements {
  DType type;
  bool is_boolean = false;
};

Elements parse_type(const File& file, const std::string& descr) {
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
  if (code == "b1" || (code == "bool" && !has_order)) return {{ElementType::u1, false}, true};
  for (const Refusal& refusal : refusals) {
    if (!code.starts_with(refusal.prefix)) continue;
    throw not_understood(
        file,
        "holds " + std::string{refusal.what} + " (" + quoted(descr) + "), which are not supported",
        std::string{refusal.hint});
  }
  try {
    const DType type = parse_dtype(order + std::string{code});
    // NumPy writes codes of two characters, and long names without a byte order. bf16 and names
    // that count bits, such as "f32", are ours.
    const bool is_long_name =
        !has_order && type.element != ElementType::bf16 && code == name_of(type.element);
    if (code.size() == 2 || is_long_name) return {type};
  } catch (const Error&) {
    // The message below is better: it names the file.
  }
  throw not_understood(file, "its type " + quoted(descr) + " is not known");
}

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

Place find_header(const File& file) {
  const std::string version = read_text(file, magic.size(), 2);
  const int major = static_cast<unsigned char>(version[0]);
  const int minor = static_cast<unsigned char>(version[1]);
  std::string version_text = std::to_string(major) + "." + std::to_string(minor);
  if (major < 1 || major > 3 || minor != 0) {
    throw not_understood(file,
                         ".npy version " + version_text + " is not known, only 1.0 to 3.0 are");
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::string text = read_text(file, version_end, length_bytes);
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= std::size_t{static_cast<unsigned char>(text[i])} << (8 * i);
  }
  if (length > longest_header) {
    throw not_understood(file, "its .npy header claims " + std::to_string(length) +
                                   " bytes; no more than 65536 are read");
  }
  return {version_end + length_bytes, length, std::move(version_text)};
}

void require_magic(const File& file) {
  if (file.size() == 0) throw not_understood(file, "is empty, not a .npy file");
  if (!begins_like_npy(file)) {
    throw not_understood(file, "is named .npy but does not begin like a .npy file",
                         "if it holds raw numbers, give it another ending, such as .f32");
  }
}

void require_size(const File& file, std::uint64_t expected) {
  if (file.size() < expected) {
    throw not_understood(file, "is truncated: its header says " + std::to_string(expected) +
                                   " bytes, the file has " + std::to_string(file.size()));
  }
  if (file.size() > expected) {
    throw not_understood(file, "is too long: its header says " + std::to_string(expected) +
                                   " bytes, the file has " + std::to_string(file.size()));
  }
}

}  // namespace

bool begins_like_npy(const File& file) {
  return file.size() >= magic.size() && read_text(file, 0, magic.size()) == magic;
}

bool is_npy(const File& file) {
  return ending_of(file.path()) == ".npy" || begins_like_npy(file);
}

Description describe_npy(const File& file, const Format& format) {
  require_magic(file);
  if (format.offset != 0) {
    throw Error(ErrorKind::usage, file.path().string() + ": an offset is for raw files only",
                {.path = file.path(), .why = "a .npy file says itself where its data begin"});
  }
  Place place = find_header(file);
  const std::string text = read_text(file, place.offset, place.bytes);
  Header header = HeaderParser{file, text, place.offset}.parse();
  const auto [type, is_boolean] = parse_type(file, header.descr);
  if (format.type && *format.type != type) {
    throw Error(ErrorKind::bad_input,
                file.path().string() + ": holds " + code_of(type) + ", not the " +
                    code_of(*format.type) + " asked for",
                {.path = file.path(),
                 .why = "a .npy file says itself what its type is",
                 .remedies = {{Change::unset, "Format::type"}}});
  }
  const bool by_columns = !is_row_major(header);
  if (by_columns && !format.by_columns) {
    throw not_understood(file, "is stored column by column (Fortran order)",
                         "save it by rows: x = numpy.load(\"" + file.path().filename().string() +
                             "\", mmap_mode=\"r\"); numpy.lib.format.open_memmap(\"rows.npy\", "
                             "\"w+\", x.dtype, x.shape)[:] = x");
  }
  const std::uint64_t offset = place.offset + place.bytes;
  const std::optional<std::uint64_t> bytes = product_of(header.shape, size_of(type.element));
  if (!bytes || *bytes > std::numeric_limits<std::uint64_t>::max() - offset) {
    throw not_understood(file, "its .npy header claims more data than a file can hold");
  }
  require_size(file, offset + *bytes);
  return {.type = type,
          .type_reason = is_boolean ? "from its header: bool, 0 or 1" : "from its header",
          .offset = offset,
          .bytes = *bytes,
          .shape = std::move(header.shape),
          .version = std::move(place.version),
          .by_columns = by_columns};
}

}  // namespace ooc
