// An input is a .npz file. Its arrays must lie in it without overlapping, or it is refused.

#include "format_check.hpp"
#include "shape_check.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ooc::detail;
  constexpr std::uint64_t first_pages = 1'000'000;
  constexpr std::uint64_t most_each = 3000;  // a member of 76 bytes is read in whole pages
  fuzz::check_format(
      npz_format, fuzz::as_text(data, size), first_pages, most_each,
      [](const auto& arrays, const File& file) { fuzz::require_places(arrays, file, 0); });
  return 0;
}
