// An input is a number of bytes, and a frame of Blosc that must decode to as many.

#include <ooc/detail/codec/codec.hpp>
#include <ooc/error.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "input.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ooc;
  using namespace ooc::detail;
  constexpr std::size_t size_bytes = 2;
  if (size < size_bytes) return 0;
  const auto input = std::as_bytes(std::span(data, size));
  std::vector<std::byte> decoded(data[0] + 256u * data[1]);
  try {
    blosc_codec()->decode(input.subspan(size_bytes), decoded);
  } catch (const Error& error) {
    const bool is_expected =
        error.kind() == ErrorKind::bad_input || error.kind() == ErrorKind::usage;
    fuzz::require(is_expected, "a frame is decoded, or bad input, or a library is not there");
  }
  return 0;
}
