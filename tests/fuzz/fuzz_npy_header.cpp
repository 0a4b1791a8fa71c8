// An input is a .npy file. It must be described correctly or refused, and take little memory.

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/error.hpp>

#include "allocated_bytes.hpp"
#include "dataset/formats/formats.hpp"
#include "input.hpp"
#include "memory_file.hpp"
#include "shape_check.hpp"

namespace ooc::detail::fuzz {
namespace {

constexpr std::uint64_t most_allocated = 1 * MiB;  // whatever a header claims

/// Checks that the data begin after the header, end in the file, and have the size of the shape.
void check(const StoredArray& found, const File& file) {
  constexpr std::uint64_t shortest_header = 10;
  require(found.offset > shortest_header && found.offset <= file.size(), "data behind the header");
  require(found.bytes + found.bytes_behind == file.size() - found.offset,
          "data, and what is behind them, up to the end of the file");
  require_shape(found, file);
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
    fuzz::check(npy_format.list(beginning, {}).front(), file);
  } catch (const Error& error) {
    fuzz::require(error.kind() == ErrorKind::bad_input, "a header is understood, or bad input");
  }
  const std::uint64_t allocated = fuzz::allocated_bytes() - before;
  fuzz::require(allocated <= fuzz::most_allocated, "a header costs no more than 1 MiB");
  return 0;
}
