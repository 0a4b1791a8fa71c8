#include "dataset/file_signature.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace ooc_run {
namespace {

struct Known {
  std::string_view magic, name, hint;
  std::size_t offset = 0;  // of the magic bytes in the file
};

using namespace std::string_view_literals;

constexpr auto decompress = "decompress it first"sv;
constexpr auto unzip = "take the .npy files out of it: unzip"sv;
constexpr auto unpack = "unpack it first: tar -x"sv;
constexpr std::size_t tar_magic_offset = 257;
constexpr auto export_it = "save the array as .npy first"sv;

constexpr std::array known{
    Known{"\x1f\x8b\x08"sv, "gzip", decompress},
    Known{"\x28\xb5\x2f\xfd"sv, "Zstandard", decompress},
    Known{"\xfd\x37\x7a\x58\x5a\x00"sv, "xz", decompress},
    Known{"\x04\x22\x4d\x18"sv, "LZ4", decompress},
    Known{"1AY&SY"sv, "bzip2", decompress, std::string_view("BZh9").size()},
    Known{"PK\x03\x04"sv, "zip (as .npz is)", unzip},
    Known{"PK\x05\x06"sv, "zip (as .npz is)", unzip},  // an empty archive
    Known{"ustar"sv, "tar", unpack, tar_magic_offset},
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

/// Recognises safetensors: eight bytes with the length of a JSON header, the header, raw numbers.
std::optional<FileSignature> recognise_safetensors(std::string_view head) {
  constexpr std::size_t length_bytes = 8;
  if (head.size() <= length_bytes || head.substr(length_bytes, 2) != "{\"") return {};
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(head[i])} << (8 * i);
  }
  constexpr std::uint64_t most_bytes = 100'000'000;  // maximum that the safetensors library accepts
  if (length > most_bytes) return {};
  const std::uint64_t offset = length_bytes + length;
  return FileSignature{"safetensors", fmt::format("its numbers begin behind --offset {}", offset),
                       offset};
}

/// Returns the length in bytes of the UTF-8 character at the beginning of `text`. 0 if it is not
/// valid, or a control character that text files do not contain.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  constexpr unsigned first_of_two = 0xc2, first_of_three = 0xe0, first_of_four = 0xf0, none = 0xf5;
  if (byte(0) < 0x80) {
    const bool blank = std::string_view("\t\n\r\f").find(text[0]) != std::string_view::npos;
    return blank || (text[0] >= ' ' && text[0] <= '~') ? 1 : 0;
  }
  if (byte(0) < first_of_two || byte(0) >= none) return 0;
  const std::size_t bytes = byte(0) < first_of_three ? 2 : byte(0) < first_of_four ? 3 : 4;
  if (text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return bytes;
}

/// Returns the number of bytes that belong to valid characters.
std::size_t text_bytes(std::string_view text) {
  std::size_t sum = 0;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    sum += bytes;
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return sum;
}

}  // namespace

std::optional<FileSignature> recognise(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  for (const Known& format : known) {
    if (text.size() >= format.offset && text.substr(format.offset).starts_with(format.magic)) {
      return FileSignature{std::string(format.name), std::string(format.hint)};
    }
  }
  constexpr std::size_t form_offset = 8;  // after "RIFF" and the length
  if (text.starts_with("RIFF") && text.size() > form_offset &&
      text.substr(form_offset).starts_with("WAVE")) {
    return FileSignature{"WAVE audio", "save its samples as .npy first"};
  }
  return recognise_safetensors(text);
}

bool looks_like_text(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  const bool varies = text.find_first_not_of(text.substr(0, 1)) != std::string_view::npos;
  if (!varies) return false;
  constexpr std::size_t few = 512;  // bytes; so few may look like text by chance
  if (text.size() < few) {
    return text.find('\n') != std::string_view::npos && text_bytes(text) == text.size();
  }
  constexpr double nearly_all = 0.99;
  const bool has_blanks = text.find_first_of(" \t\n\r") != std::string_view::npos;
  const bool is_marked_up = std::string_view("{[<").find(text.front()) != std::string_view::npos;
  return (has_blanks || is_marked_up) &&
         static_cast<double>(text_bytes(text)) > nearly_all * static_cast<double>(text.size());
}

}  // namespace ooc_run
