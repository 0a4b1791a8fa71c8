#include <ooc/detail/base/compressed_name.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/little_endian.hpp"
#include "dataset/formats/headers/header_rules.hpp"
#include "dataset/formats/headers/record_codec.hpp"

namespace ooc::detail {
namespace {

// Files of vectors, as benchmarks of nearest neighbours have them; all numbers are little-endian.
// They have no magic bytes. A .fbin file begins with the numbers of rows and columns, of four bytes
// each. In a .fvecs file each row begins with its number of elements.
struct VectorEnding {
  std::string_view ending;
  ElementType element;
  bool has_counted_rows;
};

constexpr std::array<VectorEnding, 7> vector_endings{{{".fbin", ElementType::f4, false},
                                                      {".ibin", ElementType::i4, false},
                                                      {".u8bin", ElementType::u1, false},
                                                      {".i8bin", ElementType::i1, false},
                                                      {".fvecs", ElementType::f4, true},
                                                      {".ivecs", ElementType::i4, true},
                                                      {".bvecs", ElementType::u1, true}}};

const VectorEnding* find_vector_ending(const Beginning& file) {
  const auto* const found =
      std::ranges::find(vector_endings, ending_of_data(file.path()), &VectorEnding::ending);
  return found == vector_endings.end() ? nullptr : found;
}

/// Recognises a file by its ending. An offset skips the header.
bool is_vectors(Beginning& file, const Format& format) {
  return format.offset == 0 && find_vector_ending(file) != nullptr;
}

/// Returns the array of a file with the numbers of rows and columns in front.
StoredArray matrix_in(Beginning& file, const DType& type) {
  constexpr std::size_t header_bytes = 8;
  const std::string_view header = file.first_text(header_bytes);
  if (header.size() < header_bytes) {
    throw broken_header(file, vectors_format, "the numbers of rows and columns");
  }
  const std::vector<std::uint64_t> shape{number_in(header, 0, 4), number_in(header, 4, 4)};
  StoredArray array = array_behind(file, type, shape, header_bytes);
  require_end(file, vectors_format, header_bytes + array.bytes);
  return array;
}

/// Returns the array of a file whose rows have their lengths in front, which are compared when they
/// are read.
StoredArray rows_in(Beginning& file, const DType& type) {
  constexpr std::size_t count_bytes = 4;
  const std::string_view first = file.first_text(count_bytes);
  if (first.size() < count_bytes) throw broken_header(file, vectors_format, "a row");
  const std::uint64_t count = number_in(first, 0, count_bytes);
  constexpr std::uint64_t most = 0x7fff'ffff;  // it is a signed number
  if (count == 0 || count > most) {
    throw broken_header(file, vectors_format, "the number of elements of a row");
  }
  auto records = counted_rows(static_cast<std::uint32_t>(count), size_of(type));
  if (*file.bytes() % records->stored_bytes != 0) {
    throw broken_header(file, vectors_format,
                        "rows of " + std::to_string(count) + " elements, as the first one is; " +
                            std::to_string(*file.bytes() % records->stored_bytes) +
                            " bytes are left over");
  }
  const std::uint64_t rows = *file.bytes() / records->stored_bytes;
  return {.type = type,
          .type_reason = "from its ending",
          .bytes = rows * records->bytes,
          .shape = {rows, count},
          .records = std::move(records)};
}

std::vector<StoredArray> list_vectors(Beginning& file, const Format&) {
  const VectorEnding* const ending = find_vector_ending(file);
  if (ending == nullptr) {
    throw Error(ErrorKind::usage, file.path().string() + ": its name does not say its type",
                {.path = file.path(), .hint = "let it end in .fbin, .u8bin, .fvecs or the like"});
  }
  if (file.file() == nullptr) {
    throw Error(ErrorKind::usage,
                file.path().string() + ": a file of vectors cannot be read as a stream",
                {.why = "its size says whether its header is right",
                 .hint = "save it to a file, and decompress it"});
  }
  const DType type = stored_type(ending->element, false);
  StoredArray array = ending->has_counted_rows ? rows_in(file, type) : matrix_in(file, type);
  array.type_reason = "from its ending";
  return {std::move(array)};
}

}  // namespace

const FormatParser vectors_format{.format = FileFormat::vectors,
                                  .name = "vectors",
                                  .title = "vectors",
                                  .recognise = is_vectors,
                                  .list = list_vectors};

}  // namespace ooc::detail
