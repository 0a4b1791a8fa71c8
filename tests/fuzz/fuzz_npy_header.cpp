// An input is a .npy file. It must be described correctly or refused, and take little memory.

#include <ooc/detail/base/units.hpp>

#include "format_check.hpp"
#include "shape_check.hpp"

namespace ooc::detail::fuzz {
namespace {

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
  using namespace ooc::detail;
  constexpr std::uint64_t most = 1 * MiB;  // whatever a header claims
  fuzz::check_format(
      npy_format, fuzz::as_text(data, size), most, 0,
      [](const auto& arrays, const File& file) { fuzz::check(arrays.front(), file); });
  return 0;
}
