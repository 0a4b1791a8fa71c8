// An input is the number of a format (one byte) and a file: a header and the data behind it. The
// arrays must lie in the file without overlapping, or it is refused.

#include <array>

#include "format_check.hpp"
#include "shape_check.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ooc::detail;
  const std::array formats{&fits_format};
  if (size == 0 || data[0] >= formats.size()) return 0;
  constexpr std::uint64_t first_pages = 1'000'000, most_each = 64;  // bytes of memory
  fuzz::check_format(
      *formats[data[0]], fuzz::as_text(data + 1, size - 1), first_pages, most_each,
      [](const auto& arrays, const File& file) { fuzz::require_places(arrays, file, 0); });
  return 0;
}
