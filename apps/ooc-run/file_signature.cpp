#include "file_signature.hpp"

#include <fmt/core.h>

#include <array>
#include <string_view>

namespace ooc_run {
namespace {

struct Known {
  std::string_view magic, name, hint;
};

using namespace std::string_view_literals;

constexpr auto decompress = "decompress it first"sv;
constexpr auto export_it = "save the array as .npy first"sv;

constexpr std::array known{
    Known{"\x1f\x8b"sv, "gzip", decompress},
    Known{"\x28\xb5\x2f\xfd"sv, "Zstandard", decompress},
    Known{"\xfd\x37\x7a\x58\x5a\x00"sv, "xz", decompress},
    Known{"\x04\x22\x4d\x18"sv, "LZ4", decompress},
    Known{"BZh"sv, "bzip2", decompress},
    Known{"PK\x03\x04"sv, "zip (as .npz is)", "take the .npy files out of it: unzip"},
    Known{"\x89HDF\r\n\x1a\n"sv, "HDF5", export_it},
    Known{"CDF\x01"sv, "NetCDF", export_it},
    Known{"CDF\x02"sv, "NetCDF", export_it},
    Known{"CDF\x05"sv, "NetCDF", export_it},
    Known{"SIMPLE  ="sv, "FITS",
          "its header has a multiple of 2880 bytes: --offset, --dtype '>...'"},
    Known{"PAR1"sv, "Parquet", export_it},
    Known{"ARROW1"sv, "Arrow", export_it},
    Known{"GGUF"sv, "GGUF", export_it},
    Known{"\x89PNG"sv, "PNG", export_it},
    Known{"\xff\xd8\xff"sv, "JPEG", export_it},
    Known{"II*\0"sv, "TIFF", export_it},
    Known{"MM\0*"sv, "TIFF", export_it},
    Known{"\x7f"
          "ELF"sv,
          "ELF program", ""},
    Known{"%PDF"sv, "PDF", ""},
    Known{"SQLite format 3"sv, "SQLite", export_it},
};

/// The length of a JSON header in eight bytes, that header, and then nothing but numbers.
std::optional<FileSignature> recognise_safetensors(std::string_view head) {
  constexpr std::size_t length_bytes = 8;
  if (head.size() <= length_bytes || head.substr(length_bytes, 2) != "{\"") return {};
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(head[i])} << (8 * i);
  }
  constexpr std::uint64_t most_bytes = 100'000'000;  // that safetensors itself accepts
  if (length > most_bytes) return {};
  const std::uint64_t offset = length_bytes + length;
  return FileSignature{"safetensors", fmt::format("its numbers begin behind --offset {}", offset),
                       offset};
}

}  // namespace

std::optional<FileSignature> recognise(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  for (const Known& format : known) {
    if (text.starts_with(format.magic)) {
      return FileSignature{std::string(format.name), std::string(format.hint)};
    }
  }
  return recognise_safetensors(text);
}

}  // namespace ooc_run
