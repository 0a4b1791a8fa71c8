#include "dataset/file_signature.hpp"

#include <fmt/core.h>

#include <array>
#include <string_view>

#include "cli/utf8.hpp"

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
    Known{"OOCPART\n"sv, "partial result", "ooc-run merge prints it"},
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

/// True for characters that are in text files: no control characters but blanks.
bool is_text(const Utf8Character& character) {
  constexpr std::string_view blanks = "\t\n\r\f";
  if (!character.is_valid) return false;
  constexpr char32_t first_beyond_ascii = 0x80;
  if (character.code >= first_beyond_ascii) return true;
  const char letter = static_cast<char>(character.code);
  return blanks.find(letter) != std::string_view::npos || !is_control(character.code);
}

/// Returns the number of bytes of characters that are in text files.
std::size_t text_bytes(std::string_view text) {
  std::size_t sum = 0;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (is_text(character)) sum += character.bytes;
    text.remove_prefix(character.bytes);
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
