// An input is a file that is compressed by zstd or, if its first byte is that of gzip, by bgzip.
// Its frames are found and decoded, or the file is read as a stream, or it is bad input.

#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

#include "codec/compression.hpp"
#include "input.hpp"
#include "memory_file.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ooc;
  using namespace ooc::detail;
  constexpr std::uint8_t gzip_magic = 0x1f;
  constexpr std::uint64_t most_decoded = 1'000'000;  // more takes long, and tells no more
  const fuzz::MemoryFile memory(fuzz::as_text(data, size));
  File file = File::open(memory.path());
  const bool is_gzip = size != 0 && data[0] == gzip_magic;
  const auto array = find_frames(file, is_gzip ? Compression::gzip : Compression::zstd);
  if (array == nullptr) return 0;
  std::string decoded(std::min(array->size(), most_decoded), '\0');
  try {
    array->read(0, std::as_writable_bytes(std::span(decoded)));
  } catch (const Error& error) {
    const bool is_expected =
        error.kind() == ErrorKind::bad_input || error.kind() == ErrorKind::usage;
    fuzz::require(is_expected, "frames are decoded, or bad input, or a library is not there");
  }
  return 0;
}
