// An input is a zarr.json or .zarray and, after a null character, a file with a chunk or with a
// shard of it.

#include <ooc/detail/file/file.hpp>
#include <ooc/error.hpp>

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "allocated_bytes.hpp"
#include "base/shape.hpp"
#include "dataset/formats/formats.hpp"
#include "dataset/formats/zarr_chunks.hpp"
#include "dataset/formats/zarr_header.hpp"
#include "input.hpp"

namespace ooc::detail::fuzz {
namespace {

/// A directory with one file, that of the first chunks.
class ChunkFile {
 public:
  ChunkFile(const ZarrArray& array, std::string_view bytes)
      : directory_(std::filesystem::temp_directory_path() /
                   ("ooc-fuzz-zarr-" + std::to_string(::getpid()))) {
    std::string name = array.has_prefix ? "c" : "";
    for (std::size_t i = 0; i < array.shape.size(); ++i) {
      if (!name.empty()) name += array.separator;
      name += '0';
    }
    const std::filesystem::path path = directory_ / (name.empty() ? "0" : name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~ChunkFile() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  ChunkFile(const ChunkFile&) = delete;
  ChunkFile& operator=(const ChunkFile&) = delete;

  const std::filesystem::path& directory() const noexcept { return directory_; }

 private:
  std::filesystem::path directory_;
};

/// Reads arrays that are small: a short header may describe any size.
void read(const ZarrArray& array, std::string_view chunk) {
  constexpr std::uint64_t most_bytes = 1 << 16;
  const std::uint64_t element_bytes = size_of(array.type);
  if (*product_of(array.shape, element_bytes) > most_bytes ||
      *product_of(array.chunk, element_bytes) > most_bytes ||
      product_of(array.file_chunk, element_bytes).value_or(~0ull) > most_bytes) {
    return;
  }
  const ChunkFile file(array, chunk);
  const auto found = find_zarr_chunks(array, file.directory(), "fuzzed");
  require(found->size() == *product_of(array.shape, element_bytes), "all bytes of the shape");
  std::vector<std::byte> bytes(found->size());
  found->read(0, bytes);
}

}  // namespace
}  // namespace ooc::detail::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ooc;
  using namespace ooc::detail;
  const std::string_view text = fuzz::as_text(data, size);
  const std::string_view json = text.substr(0, text.find('\0'));
  for (const bool is_new : {true, false}) {
    const std::uint64_t before = fuzz::allocated_bytes();
    try {
      const auto array =
          is_new ? parse_zarr_header(json, "zarr.json") : parse_zarr2_header(json, ".zarray");
      const std::uint64_t allocated = fuzz::allocated_bytes() - before;
      constexpr std::uint64_t most_each = 64;  // bytes for a byte of the header
      fuzz::require(allocated <= 1'000'000 + most_each * size, "memory is in proportion to it");
      if (!array || !array->why_not.empty()) continue;
      fuzz::read(*array, text.substr(std::min(text.size(), json.size() + 1)));
    } catch (const Error& error) {
      const bool is_expected =
          error.kind() == ErrorKind::bad_input || error.kind() == ErrorKind::usage;
      fuzz::require(is_expected, "an array is read, or bad input, or the library is not there");
    }
  }
  return 0;
}
