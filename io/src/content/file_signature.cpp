#include <ooc/detail/base/utf8.hpp>
#include <ooc/detail/content/file_signature.hpp>

#include <array>

#include "content/header_checks.hpp"

namespace ooc::detail {
namespace {

using namespace std::string_view_literals;
using namespace content;

struct Known {
  std::string_view magic, name, hint;
  Check check = nullptr;   // checks the structure, if magic bytes are not enough
  std::size_t offset = 0;  // of the magic bytes in the file
};

constexpr auto decompress = "decompress it first"sv;
constexpr auto unzip = "take its files out: unzip"sv;
constexpr auto unpack = "unpack it first: tar -x"sv;
constexpr auto export_it = "save the array as .npy first"sv;
constexpr auto samples = "save its samples as .npy first"sv;

constexpr std::array known{
    Known{"\x1f\x8b\x08"sv, "gzip", decompress, is_gzip},
    Known{"\x28\xb5\x2f\xfd"sv, "Zstandard", decompress, is_zstd},
    Known{"\x2a\x4d\x18"sv, "Zstandard or LZ4", decompress, is_skippable_frame, 1},
    Known{"\xfd\x37\x7a\x58\x5a\x00"sv, "xz", decompress, is_xz},
    Known{"\x04\x22\x4d\x18"sv, "LZ4", decompress, is_lz4},
    Known{"1AY&SY"sv, "bzip2", decompress, nullptr, "BZh9"sv.size()},
    Known{"\x37\x7a\xbc\xaf\x27\x1c\x00"sv, "7z", decompress},
    Known{"\x1f\x9d"sv, "compress (.Z)", decompress, is_compress},
    Known{"\x5d\x00"sv, "lzma", decompress, is_lzma},
    Known{"LZIP\x01"sv, "lzip", decompress},
    Known{"\xff\x06\x00\x00sNaPpY"sv, "Snappy", decompress},
    Known{"b2frame\0"sv, "Blosc", decompress, nullptr, 2},
    Known{"PK\x03\x04"sv, "zip", unzip, is_zip},
    Known{"PK\x05\x06"sv, "zip", unzip, is_zip},  // an empty archive
    Known{"Rar!\x1a\x07"sv, "RAR", decompress},
    Known{"ustar"sv, "tar", unpack, is_tar, 257},
    Known{"MATLAB 5.0 MAT-file"sv, "MATLAB 5", export_it, is_matlab5},
    Known{"CDF\x01"sv, "NetCDF", export_it, is_netcdf},
    Known{"CDF\x02"sv, "NetCDF", export_it, is_netcdf},
    Known{"CDF\x05"sv, "NetCDF", export_it, is_netcdf},
    Known{"SIMPLE  ="sv, "FITS",
          "its numbers are big-endian and begin at a multiple of 2880 bytes"},
    Known{"PAR1"sv, "Parquet", export_it, is_parquet},
    Known{"ARROW1\0\0"sv, "Arrow", export_it},
    Known{"ORC"sv, "ORC", export_it, is_orc},
    Known{"Obj\x01"sv, "Avro", export_it, is_avro},
    Known{"GGUF"sv, "GGUF", export_it, is_gguf},
    Known{"root"sv, "ROOT", export_it, is_root},
    Known{"GRIB"sv, "GRIB", export_it, is_grib},
    Known{"DICM"sv, "DICOM", export_it, is_dicom, 128},
    Known{"NRRD000"sv, "NRRD", "its numbers begin behind an empty line, if they are in the file",
          is_nrrd},
    Known{"\x80"sv, "a Python pickle", export_it, is_pickle},
    Known{"\x89PNG\r\n\x1a\n"sv, "PNG", export_it},
    Known{"\xff\xd8\xff"sv, "JPEG", export_it, is_jpeg},
    Known{"II*\0"sv, "TIFF", export_it, is_tiff},
    Known{"MM\0*"sv, "TIFF", export_it, is_tiff},
    Known{"II+\0"sv, "BigTIFF", export_it, is_bigtiff},
    Known{"MM\0+"sv, "BigTIFF", export_it, is_bigtiff},
    Known{"RIFF"sv, "WAVE audio", samples, is_wave},
    Known{"RF64"sv, "WAVE audio (RF64)", samples, is_wave},
    Known{"BW64"sv, "WAVE audio (BW64)", samples, is_wave},
    Known{"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\0\0"sv, "WAVE audio (W64)", samples},
    Known{"fLaC\0\0\0\x22"sv, "FLAC audio", samples},
    Known{"\x7f"
          "ELF"sv,
          "ELF program", "", is_elf},
    Known{"%PDF-"sv, "PDF", ""},
    Known{"SQLite format 3\0"sv, "SQLite", export_it},
    Known{"OOCPART\n"sv, "a partial result", "merge it with the other parts"},
    // These have no distinctive magic bytes: their structure decides.
    Known{""sv, "zlib", decompress, is_zlib},
    Known{""sv, "Blosc", decompress, is_blosc},
};

/// A format whose numbers are stored raw, and the function that finds them.
struct Container {
  std::string_view name;
  std::optional<std::uint64_t> (*find_data)(const FileSample&);
};

constexpr std::array containers{Container{"NIfTI", nifti_data}, Container{"IDX", idx_data}};

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

bool has_hdf5_signature(std::string_view head) {
  constexpr std::size_t least_block = 512;
  for (std::size_t offset = 0; offset < head.size();
       offset = offset == 0 ? least_block : 2 * offset) {
    if (head.substr(offset).starts_with("\x89HDF\r\n\x1a\n"sv)) return true;
  }
  return false;
}

std::optional<FileSignature> recognise(const FileSample& sample) {
  const std::string_view head = sample.head;
  for (const Known& format : known) {
    if (head.size() < format.offset) continue;
    if (!head.substr(format.offset).starts_with(format.magic)) continue;
    if (format.check != nullptr && !format.check(sample)) continue;
    return FileSignature{std::string(format.name), std::string(format.hint)};
  }
  if (has_hdf5_signature(head)) return FileSignature{"HDF5", std::string(export_it)};
  for (const Container& format : containers) {
    if (const auto offset = format.find_data(sample)) {
      return FileSignature{std::string(format.name), "", offset};
    }
  }
  return {};
}

bool looks_like_text(std::string_view text) {
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

}  // namespace ooc::detail
