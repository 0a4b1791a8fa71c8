#include <ooc/detail/base/group_digits.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/error.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.hpp"

namespace ooc {

using namespace detail;
namespace {

constexpr std::size_t npy_header_bytes = page_bytes;

/// Returns the lengths and their product: "256 x 256 = 65,536".
std::string equation_of(std::span<const std::uint64_t> lengths) {
  std::string text;
  for (const std::uint64_t length : lengths) {
    text += (text.empty() ? "" : " x ") + group_digits(std::to_string(length));
  }
  if (lengths.size() == 1) return text;
  const auto product = product_of(lengths);
  return text + (product ? " = " + group_digits(std::to_string(*product))
                         : ", which is more than 64 bits hold");
}

/// Throws Error(usage) if one of the files, or one that stores its pieces, is the output.
void refuse_files(const Target& target, const struct stat& output, std::span<const File> files) {
  for (const File& file : files) {
    if (file.encoded() != nullptr) refuse_files(target, output, file.encoded()->files());
    struct stat input {};
    const bool is_known = file.is_unopened() ? ::stat(file.path().c_str(), &input) == 0
                                             : ::fstat(file.buffered(), &input) == 0;
    const bool same = is_known && input.st_dev == output.st_dev && input.st_ino == output.st_ino;
    if (!same) continue;
    std::string message = target.path.string() + ": is the input";
    if (file.path() != target.path) message += " " + file.path().string() + " by another name";
    throw Error(ErrorKind::usage, message,
                {.path = target.path, .hint = "give the output a name of its own"});
  }
}

/// Throws Error(usage) if the path leads, through links of any kind, to one of the input files.
void refuse_input(const Target& target, std::span<const Source* const> inputs) {
  struct stat output {};
  if (::stat(target.path.c_str(), &output) != 0) return;
  for (const Source* source : inputs) refuse_files(target, output, files_of(*source));
}

bool has_bf16(const DType& type) {
  if (!type.is_struct()) return type.element == ElementType::bf16;
  return std::ranges::find(type.fields, ElementType::bf16, &Field::element) != type.fields.end();
}

/// Throws Error(usage) unless the header of structs can be written, however many there will be.
void require_header(const Target& target) {
  const std::vector<std::uint64_t> longest(std::max<std::size_t>(target.shape.size(), 1), ~0ull);
  try {
    npy_header(target.known_type(), longest);
  } catch (const Error& error) {
    throw Error(error.kind(), target.path.string() + ": " + error.what(),
                {.path = target.path, .hint = "a file that is not named .npy has no header"});
  }
}

void require_writable_as_npy(const Target& target, std::uint64_t elements) {
  if (has_bf16(target.known_type())) {
    throw Error(
        ErrorKind::usage, target.path.string() + ": bf16 cannot be in a .npy file",
        {.path = target.path,
         .hint =
             "NumPy has no code for it; f4 holds all its values, and .bf16 is a raw file of it"});
  }
  if (target.known_type().is_struct()) require_header(target);
  if (target.shape.empty() || product_of(target.shape) == elements) return;
  throw Error(ErrorKind::usage,
              target.path.string() + ": the shape does not fit: " + equation_of(target.shape) +
                  ", the input has " + group_digits(std::to_string(elements)),
              {.path = target.path, .hint = "choose lengths whose product is that"});
}

/// Throws Error(usage) if the extension of a raw file names another type, in any byte order.
void require_named_type(const Target& target) {
  const auto named = type_of_ending(ending_of(target.path));
  if (!named || (!target.known_type().is_struct() && target.known_type().element == *named)) return;
  const std::string held = target.known_type().is_struct()
                               ? code_of(target.known_type())
                               : std::string(name_of(target.known_type().element));
  throw Error(ErrorKind::usage,
              target.path.string() + ": the ending names " + std::string(name_of(*named)) +
                  ", the target holds " + held,
              {.path = target.path,
               .why = "a raw file is read as the type that its ending names",
               .hint = std::filesystem::path(target.path).replace_extension(".bin").string() +
                       " names no type"});
}

const std::filesystem::path& checked_path(const Target& target, std::uint64_t elements,
                                          std::span<const Source* const> inputs) {
  refuse_input(target, inputs);
  require_written_format(target.path);
  require_named_type(target);
  if (target.is_npy()) require_writable_as_npy(target, elements);
  return target.path;
}

std::uint64_t header_bytes(const Target& target) {
  return target.is_npy() ? npy_header_bytes : 0;
}

std::uint64_t file_bytes(const Target& target, std::uint64_t elements) {
  std::uint64_t bytes = 0;
  const bool too_large =
      __builtin_mul_overflow(elements, size_of(target.known_type()), &bytes) || bytes >> 62 != 0;
  if (too_large) {
    throw Error(ErrorKind::usage, target.path.string() + ": so large a file there cannot be",
                {.path = target.path});
  }
  return header_bytes(target) + bytes;
}

/// Returns a string as Python writes it. Throws Error(usage) if the name of a field is not plain.
std::string python_string(const std::string& name) {
  const char quote = name.find('\'') == std::string::npos ? '\'' : '"';
  const auto is_plain = [quote](char letter) {
    return letter >= ' ' && letter <= '~' && letter != '\\' && letter != quote;
  };
  if (name.empty() || !std::ranges::all_of(name, is_plain)) {
    throw Error(ErrorKind::usage, "a field of a .npy file has a name of plain characters");
  }
  return quote + name + quote;
}

std::string npy_code_of(const Field& field) {
  if (field.is_bool) return "|b1";
  const std::string code = code_of(DType{field.element, field.swapped});
  return field.npy_kind.empty() ? code : code.front() + field.npy_kind;
}

/// Returns the shape of a field as it follows its code: "", or ", (3, 2,)".
std::string npy_shape_of(const Field& field) {
  std::vector<std::uint64_t> shape = field.npy_shape;
  if (shape.empty() && field.npy_kind.empty() && field.count != 1) shape = {field.count};
  if (shape.empty()) return {};
  std::string text = ", (";
  for (const std::uint64_t length : shape) text += std::to_string(length) + ",";
  return text + ")";
}

/// Returns the type as NumPy writes it: a code or, for a struct, a list of its fields. Padding is a
/// field without a name.
std::string descr_of(const DType& type) {
  if (!type.is_struct()) return type.is_bool ? "'|b1'" : "'" + code_of(type) + "'";
  std::string text = "[";
  std::size_t end = 0;  // of the field before
  const auto add = [&](const std::string& field) { text += (text.size() > 1 ? ", " : "") + field; };
  const auto pad_to = [&](std::size_t offset) {
    if (offset > end) add("('', '|V" + std::to_string(offset - end) + "')");
  };
  for (const Field& field : type.fields) {
    pad_to(field.offset);
    add("(" + python_string(field.name) + ", '" + npy_code_of(field) + "'" + npy_shape_of(field) +
        ")");
    end = field.offset + field.bytes();
  }
  pad_to(type.struct_bytes);
  return text + "]";
}

}  // namespace

const DType& Target::known_type() const {
  if (type) return *type;
  throw Error(ErrorKind::usage, path.string() + ": the target has no type",
              {.path = path, .remedies = {{RemedyAction::set, "Target::type"}}});
}

TargetFile::TargetFile(const Target& target, std::uint64_t elements,
                       std::span<const Source* const> inputs, Purpose purpose, const KeptFile& kept)
    : OutputFile(checked_path(target, elements, inputs), file_bytes(target, elements),
                 target.replace, purpose, kept),
      is_npy_(target.is_npy()),
      type_(target.known_type()),
      data_offset_(header_bytes(target)),
      bytes_(purpose == Purpose::append ? std::max(data_offset_, kept.bytes)
                                        : file_bytes(target, elements)) {
  if (!is_npy_ || purpose != Purpose::write) return;
  const std::vector<std::uint64_t> sequence{elements};
  write(0, npy_header(type_, target.shape.empty() ? sequence : target.shape));
}

std::uint64_t TargetFile::append(std::uint64_t bytes) {
  const std::uint64_t offset = bytes_;
  grow(offset + bytes);
  bytes_ += bytes;
  return offset;
}

void TargetFile::end(std::span<const std::uint64_t> row_shape) {
  std::vector<std::uint64_t> shape{appended_bytes() / size_of(type_)};
  for (const std::uint64_t length : row_shape) {
    shape.front() /= length;
    shape.push_back(length);
  }
  append(0);  // allocates the header if there is nothing else
  if (is_npy_) write(0, npy_header(type_, shape));
  trim(bytes_);
}

void detail::require_written_format(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 36> other{
      ".arrow",   ".bgz",         ".bvecs",      ".bz2", ".csv",   ".fbin",  ".fits",  ".fvecs",
      ".gz",      ".h5",          ".hdf5",       ".hdr", ".i8bin", ".ibin",  ".ivecs", ".json",
      ".lz4",     ".mat",         ".mha",        ".mhd", ".nhdr",  ".nii",   ".npz",   ".nrrd",
      ".parquet", ".safetensors", ".sigmf-meta", ".tsv", ".txt",   ".u8bin", ".wav",   ".xlsx",
      ".xz",      ".zarr",        ".zip",        ".zst"};
  const auto is_other = [&](const std::string& ending) {
    return std::ranges::find(other, ending) != other.end();
  };
  std::string ending = ending_of(path);
  std::error_code unknown;  // a link may lead to a header of data
  if (!is_other(ending)) ending = ending_of(std::filesystem::weakly_canonical(path, unknown));
  if (!is_other(ending)) return;
  throw Error(
      ErrorKind::usage,
      path.string() + ": only raw values and .npy files are written, no " + ending,
      {.path = path,
       .hint =
           std::filesystem::path(path).replace_extension("").replace_extension(".npy").string() +
           ", which NumPy and others read"});
}

std::vector<std::byte> detail::npy_header(const DType& type, std::span<const std::uint64_t> shape) {
  std::string text = "{'descr': " + descr_of(type) + ", 'fortran_order': False, 'shape': (";
  for (const std::uint64_t length : shape) text += std::to_string(length) + ", ";
  text += "), }";
  constexpr std::size_t prefix_bytes = 10;
  constexpr std::size_t text_bytes = npy_header_bytes - prefix_bytes;
  if (text.size() >= text_bytes) {
    throw Error(ErrorKind::usage, type.is_struct() ? "too many fields for a .npy file"
                                                   : "a shape of too many dimensions");
  }
  std::string header = "\x93NUMPY\x01";
  header += '\0';
  header += static_cast<char>(text_bytes & 0xff);
  header += static_cast<char>(text_bytes >> 8);
  header += text;
  header.resize(npy_header_bytes - 1, ' ');
  header += '\n';
  const auto bytes = std::as_bytes(std::span(header));
  return {bytes.begin(), bytes.end()};
}

}  // namespace ooc
