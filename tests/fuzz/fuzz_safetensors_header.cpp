// An input is a safetensors file. Its arrays must fill it, or it is refused.

#include <ooc/detail/file/file.hpp>
#include <ooc/error.hpp>

#include <cstdint>

#include "allocated_bytes.hpp"
#include "dataset/formats/formats.hpp"
#include "input.hpp"
#include "memory_file.hpp"
#include "shape_check.hpp"

namespace ooc::detail::fuzz {
namespace {

/// Checks that the arrays lie in the file, and that none is larger or smaller than its shape.
void check(const std::vector<StoredArray>& found, const File& file) {
  constexpr std::uint64_t shortest_header = 10;
  std::uint64_t all = 0;
  for (const StoredArray& array : found) {
    require(array.offset >= shortest_header && array.offset <= file.size() &&
                array.bytes <= file.size() - array.offset,
            "an array is in the file");
    all += array.bytes;
    if (array.why_not.empty()) require_shape(array, file);
  }
  require(all <= file.size() - shortest_header + 2, "arrays do not overlap");
}

}  // namespace
}  // namespace ooc::detail::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ooc;
  using namespace ooc::detail;
  const fuzz::MemoryFile memory(fuzz::as_text(data, size));
  const File file = File::open(memory.path());
  const std::uint64_t before = fuzz::allocated_bytes();
  try {
    Beginning beginning(file);
    safetensors_format.recognise(beginning, {});
    fuzz::check(safetensors_format.list(beginning, {}), file);
  } catch (const Error& error) {
    fuzz::require(error.kind() == ErrorKind::bad_input, "a header is understood, or bad input");
  }
  constexpr std::uint64_t most_each = 64;  // bytes for a byte of the file, beside its first pages
  const std::uint64_t allocated = fuzz::allocated_bytes() - before;
  fuzz::require(allocated <= 1'000'000 + most_each * size, "memory is in proportion to the file");
  return 0;
}
