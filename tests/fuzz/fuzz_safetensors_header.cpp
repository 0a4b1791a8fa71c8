// An input is a safetensors file. Its arrays must fill it, or it is refused.

#include "format_check.hpp"
#include "shape_check.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ooc::detail;
  constexpr std::uint64_t first_pages = 1'000'000, most_each = 64;  // bytes of memory
  fuzz::check_format(safetensors_format, fuzz::as_text(data, size), first_pages, most_each,
                     [](const auto& arrays, const File& file) {
                       constexpr std::uint64_t length_bytes = 8;
                       fuzz::require_places(arrays, file, length_bytes);
                     });
  return 0;
}
