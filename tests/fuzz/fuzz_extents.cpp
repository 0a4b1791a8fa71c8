// An input is an extent table, as a helper program prints it, of a file of 4096 bytes.

#include <ooc/error.hpp>

#include <string>
#include <utility>
#include <vector>

#include "allocated_bytes.hpp"
#include "base/shape.hpp"
#include "dataset/formats/extent_table.hpp"
#include "dataset/formats/formats.hpp"
#include "input.hpp"
#include "memory_file.hpp"

namespace ooc::detail::fuzz {
namespace {

constexpr std::size_t file_bytes = 4096;

/// Reads an array if it is small: a short table may describe any size.
void read(const StoredArray& array, const MemoryFile& memory) {
  constexpr std::uint64_t most_bytes = 1 << 16;
  const std::uint64_t element_bytes = size_of(array.type);
  const bool is_small =
      array.bytes <= most_bytes &&
      (array.chunks == nullptr ||
       product_of(array.chunks->chunk, element_bytes).value_or(~0ull) <= most_bytes);
  if (!is_small) return;
  const File found = open_extents(File::open(memory.path()), array);
  require(array.bytes <= found.size(), "all bytes of the shape are there");
  std::vector<std::byte> bytes(array.bytes);
  read_exactly(found, array.chunks == nullptr ? array.offset : 0, bytes);
}

}  // namespace
}  // namespace ooc::detail::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ooc;
  using namespace ooc::detail;
  static const fuzz::MemoryFile memory(std::string(fuzz::file_bytes, '\1'));
  const std::uint64_t before = fuzz::allocated_bytes();
  std::vector<StoredArray> found;
  try {
    found = parse_extent_table(fuzz::as_text(data, size), "fuzzed", fuzz::file_bytes);
  } catch (const Error& error) {
    fuzz::require(error.kind() == ErrorKind::bad_input, "a table is understood, or bad input");
  }
  constexpr std::uint64_t most_each = 128;  // bytes for a byte of the table
  fuzz::require(fuzz::allocated_bytes() - before <= 1'000'000 + most_each * size,
                "memory is in proportion to it");
  for (const StoredArray& array : found) {
    if (!array.why_not.empty()) continue;
    try {
      fuzz::read(array, memory);
    } catch (const Error& error) {
      const bool is_expected =
          error.kind() == ErrorKind::bad_input || error.kind() == ErrorKind::usage;
      fuzz::require(is_expected, "an array is read, or bad input, or the library is not there");
    }
  }
  return 0;
}
