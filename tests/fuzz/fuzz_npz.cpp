// An input is a .npz file. Its arrays must lie in it without overlapping, or it is refused.

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

void check_members(const std::vector<StoredArray>& found, const File& file) {
  std::uint64_t all = 0;
  for (const StoredArray& array : found) {
    require(array.offset <= file.size() && array.bytes <= file.size() - array.offset,
            "an array is in the file");
    all += array.bytes;
    if (array.why_not.empty()) require_shape(array, file);
  }
  require(all <= file.size(), "arrays do not overlap");
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
    npz_format.recognise(beginning, {});
    fuzz::check_members(npz_format.list(beginning, {}), file);
  } catch (const Error& error) {
    fuzz::require(error.kind() == ErrorKind::bad_input, "an archive is understood, or bad input");
  }
  constexpr std::uint64_t most_each = 3000;  // a member is read in whole pages: 46 bytes say so
  const std::uint64_t allocated = fuzz::allocated_bytes() - before;
  fuzz::require(allocated <= 1'000'000 + most_each * size, "memory is in proportion to the file");
  return 0;
}
