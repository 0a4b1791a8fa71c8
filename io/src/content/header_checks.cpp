#include "content/header_checks.hpp"

#include <ooc/detail/base/letters.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "content/deflate.hpp"

namespace ooc::detail::content {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t beyond = ~std::uint64_t{0};  // an integer that lies partly beyond the head

/// Returns an integer of `width` bytes; `beyond` if the head ends before.
std::uint64_t little(std::string_view head, std::size_t offset, std::size_t width) {
  if (offset > head.size() || width > head.size() - offset) return beyond;
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(head[offset + i]);
  }
  return value;
}

std::uint64_t big(std::string_view head, std::size_t offset, std::size_t width) {
  if (offset > head.size() || width > head.size() - offset) return beyond;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value = value << 8 | static_cast<unsigned char>(head[offset + i]);
  }
  return value;
}

bool has(std::string_view head, std::size_t offset, std::string_view text) {
  return offset <= head.size() && head.substr(offset).starts_with(text);
}

/// True if a file may have `bytes` bytes. A stream of unknown length may always have them.
bool reaches(const FileSample& sample, std::uint64_t bytes) {
  return bytes != beyond && bytes <= sample.bytes.value_or(beyond);
}

std::string last_of(const FileSample& sample, std::size_t bytes) {
  if (sample.read_last == nullptr || !reaches(sample, bytes)) return {};
  return sample.read_last(bytes);
}

bool is_one_of(std::uint64_t value, std::initializer_list<std::uint64_t> values) {
  return std::ranges::find(values, value) != values.end();
}

/// True if the first bytes differ, as those of compressed data do.
bool varies(std::string_view data) {
  constexpr std::size_t looked_at = 32;
  std::string bytes(data.substr(0, looked_at));
  std::ranges::sort(bytes);
  const auto end = std::unique(bytes.begin(), bytes.end());
  return static_cast<std::size_t>(end - bytes.begin()) * 2 > data.substr(0, looked_at).size();
}

}  // namespace

bool is_gzip(const FileSample& sample) {
  const std::uint64_t flags = little(sample.head, 3, 1), level = little(sample.head, 8, 1);
  const std::uint64_t system = little(sample.head, 9, 1);
  constexpr std::uint64_t reserved = 0xe0, has_fields = 0x16, has_name = 0x08;
  constexpr std::uint64_t last_system = 13, unknown_system = 255;
  if ((flags & reserved) != 0 || !is_one_of(level, {0, 2, 4}) ||
      (system > last_system && system != unknown_system)) {
    return false;
  }
  if ((flags & has_fields) != 0) return true;
  constexpr std::size_t header_bytes = 10;
  std::string_view data = sample.head.substr(header_bytes);
  if ((flags & has_name) != 0) data.remove_prefix(std::min(data.find('\0'), data.size() - 1) + 1);
  return begins_like_deflate(data);
}

bool is_zlib(const FileSample& sample) {
  constexpr unsigned method_mask = 0x0f, deflate = 8, longest_window = 0x78, dictionary = 0x20;
  const std::uint64_t method = little(sample.head, 0, 1), flags = little(sample.head, 1, 1);
  if (method == beyond || flags == beyond) return false;
  return (method & method_mask) == deflate && method <= longest_window &&
         (flags & dictionary) == 0 && (method << 8 | flags) % 31 == 0 &&
         begins_like_deflate(sample.head.substr(2));
}

bool is_xz(const FileSample& sample) {
  constexpr std::uint64_t last_check = 0x0f;
  return little(sample.head, 6, 1) == 0 && little(sample.head, 7, 1) <= last_check;
}

bool is_lzma(const FileSample& sample) {
  const std::uint64_t dictionary = little(sample.head, 1, 4), bytes = little(sample.head, 5, 8);
  constexpr std::uint64_t least = 1 << 12, most = 1u << 30, most_bytes = std::uint64_t{1} << 40;
  // Usual sizes are 2^n and 3 * 2^n.
  const bool is_usual = dictionary >= least && dictionary <= most &&
                        (std::has_single_bit(dictionary) ||
                         (dictionary % 3 == 0 && std::has_single_bit(dictionary / 3)));
  return is_usual && (bytes == beyond || bytes <= most_bytes) && little(sample.head, 13, 1) == 0 &&
         varies(sample.head.substr(14));
}

bool is_lz4(const FileSample& sample) {
  const std::uint64_t flags = little(sample.head, 4, 1), block = little(sample.head, 5, 1);
  constexpr std::uint64_t version = 0x40, version_mask = 0xc0, reserved = 0x02;
  return (flags & version_mask) == version && (flags & reserved) == 0 &&
         is_one_of(block, {0x40, 0x50, 0x60, 0x70});
}

bool is_zstd(const FileSample& sample) {
  constexpr std::uint64_t reserved = 0x08;
  const std::uint64_t descriptor = little(sample.head, 4, 1);
  return descriptor != beyond && (descriptor & reserved) == 0;
}

bool is_skippable_frame(const FileSample& sample) {
  constexpr std::uint64_t first = 0x184d2a50, last = 0x184d2a5f, header_bytes = 8;
  const std::uint64_t magic = little(sample.head, 0, 4), bytes = little(sample.head, 4, 4);
  if (magic < first || magic > last || bytes == beyond) return false;
  const std::uint64_t next = header_bytes + bytes;
  const std::uint64_t next_magic = little(sample.head, next, 4);
  constexpr std::uint64_t zstd = 0xfd2fb528, lz4 = 0x184d2204;
  if (next_magic == beyond) return reaches(sample, next + 4) && bytes > 0;
  return is_one_of(next_magic, {zstd, lz4}) || (next_magic >= first && next_magic <= last);
}

/// Follows LZW codes. The first ones have 9 bits, and none may exceed the next code that will be
/// defined. A pair of literal bytes becomes a code of its own, so each pair comes only once.
bool is_compress(const FileSample& sample) {
  const std::uint64_t flags = little(sample.head, 2, 1);
  constexpr std::uint64_t bits_mask = 0x1f, reserved = 0x60, block_mode = 0x80;
  const std::uint64_t most_bits = flags & bits_mask;
  if (flags == beyond || (flags & reserved) != 0 || most_bits < 9 || most_bits > 16) return false;
  const std::uint64_t next = (flags & block_mode) != 0 ? 257 : 256;
  constexpr std::size_t code_bits = 9, header_bytes = 3, enough = 64, least = 4;
  const std::size_t codes = std::min(enough, (sample.head.size() - header_bytes) * 8 / code_bits);
  std::vector<std::uint64_t> pairs;
  std::uint64_t before = 256;
  for (std::size_t i = 0; i < codes; ++i) {
    const std::size_t bit = i * code_bits;
    const std::uint64_t two = little(sample.head, header_bytes + bit / 8, 2);
    const std::uint64_t code = two >> bit % 8 & 0x1ff;
    if (code > (i == 0 ? 255 : next + i - 1) || code == 256) return false;
    const std::uint64_t pair = before << 8 | code;
    if (before < 256 && code < 256) {
      if (std::ranges::find(pairs, pair) != pairs.end()) return false;
      pairs.push_back(pair);
    }
    before = code;
  }
  return codes >= least;
}

bool is_blosc(const FileSample& sample) {
  const std::string_view head = sample.head;
  const std::uint64_t bytes = little(head, 4, 4), block = little(head, 8, 4);
  constexpr std::uint64_t last_version = 6, last_inner = 4;
  return sample.bytes && little(head, 12, 4) == *sample.bytes &&
         little(head, 0, 1) <= last_version && little(head, 0, 1) >= 1 &&
         little(head, 1, 1) <= last_inner && little(head, 3, 1) >= 1 && bytes != 0 && block != 0 &&
         block <= std::max<std::uint64_t>(bytes, 1);
}

bool is_zip(const FileSample& sample) {
  constexpr std::uint64_t last_version = 0xff, last_method = 99;
  if (has(sample.head, 0, "PK\x05\x06"sv)) return little(sample.head, 4, 2) == 0;
  return little(sample.head, 4, 2) <= last_version && little(sample.head, 8, 2) <= last_method;
}

/// Compares the sum of the bytes of the header with the one that it contains, in octal digits.
bool is_tar(const FileSample& sample) {
  constexpr std::size_t header_bytes = 512, sum_begin = 148, sum_end = 156;
  if (sample.head.size() < header_bytes) return false;
  std::uint64_t sum = 0, said = 0;
  for (std::size_t i = 0; i < header_bytes; ++i) {
    const bool is_of_sum = i >= sum_begin && i < sum_end;
    const auto byte = static_cast<unsigned char>(sample.head[i]);
    sum += is_of_sum ? ' ' : byte;
    if (is_of_sum && byte >= '0' && byte <= '7') said = said * 8 + byte - '0';
  }
  return sum == said;
}

bool is_netcdf(const FileSample& sample) {
  constexpr std::uint64_t dimensions = 10;
  const bool is_64_bit = has(sample.head, 3, "\x05"sv);
  return is_one_of(big(sample.head, is_64_bit ? 12 : 8, 4), {0, dimensions});
}

bool is_parquet(const FileSample& sample) {
  constexpr std::uint64_t field = 0x15;  // a field of the header of a page: its type, its size
  const bool has_page = little(sample.head, 4, 1) == field && little(sample.head, 6, 1) == field;
  return has_page || last_of(sample, 4) == "PAR1";
}

bool is_orc(const FileSample& sample) {
  return last_of(sample, 4).starts_with("ORC");  // before the length of the last record
}

bool is_avro(const FileSample& sample) {
  return sample.head.find("avro.") != std::string_view::npos;
}

bool is_gguf(const FileSample& sample) {
  constexpr std::uint64_t last_version = 64;
  return little(sample.head, 4, 4) <= last_version || big(sample.head, 4, 4) <= last_version;
}

bool is_jpeg(const FileSample& sample) {
  constexpr std::uint64_t first_marker = 0xc0;
  const std::uint64_t bytes = big(sample.head, 4, 2), next = 4 + bytes;
  return little(sample.head, 3, 1) >= first_marker && bytes >= 2 && bytes != beyond &&
         (next >= sample.head.size() || sample.head[next] == '\xff');
}

bool is_tiff(const FileSample& sample) {
  const bool is_little = has(sample.head, 0, "II"sv);
  const auto field = [&](std::size_t offset, std::size_t width) {
    return is_little ? little(sample.head, offset, width) : big(sample.head, offset, width);
  };
  const std::uint64_t directory = field(4, 4);
  constexpr std::uint64_t header_bytes = 8, entry_bytes = 12;
  if (directory < header_bytes || directory % 2 != 0 ||
      !reaches(sample, directory + 2 + entry_bytes)) {
    return false;
  }
  const std::uint64_t entries = field(directory, 2), type = field(directory + 4, 2);
  constexpr std::uint64_t most_entries = 4096, first_tag = 254, last_type = 18;
  if (entries == beyond || type == beyond) return true;  // it is not in the head
  return entries != 0 && entries <= most_entries && field(directory + 2, 2) >= first_tag &&
         type >= 1 && type <= last_type;
}

bool is_bigtiff(const FileSample& sample) {
  const bool is_little = has(sample.head, 0, "II"sv);
  const auto field = [&](std::size_t offset, std::size_t width) {
    return is_little ? little(sample.head, offset, width) : big(sample.head, offset, width);
  };
  constexpr std::uint64_t header_bytes = 16;
  return field(4, 2) == 8 && field(6, 2) == 0 && field(8, 8) >= header_bytes &&
         reaches(sample, field(8, 8));
}

bool is_elf(const FileSample& sample) {
  return is_one_of(little(sample.head, 4, 1), {1, 2}) &&
         is_one_of(little(sample.head, 5, 1), {1, 2}) && little(sample.head, 6, 1) == 1;
}

bool is_wave(const FileSample& sample) {
  return has(sample.head, 8, "WAVE"sv) &&
         (has(sample.head, 0, "RIFF"sv) || has(sample.head, 12, "ds64"sv));
}

bool is_matlab5(const FileSample& sample) {
  return has(sample.head, 126, "IM"sv) || has(sample.head, 126, "MI"sv);
}

bool is_dicom(const FileSample& sample) {
  constexpr std::uint64_t meta_group = 2;
  return little(sample.head, 132, 2) == meta_group;
}

bool is_nrrd(const FileSample& sample) {
  return is_one_of(little(sample.head, 7, 1), {'1', '2', '3', '4', '5'}) &&
         is_one_of(little(sample.head, 8, 1), {'\n', '\r'});
}

bool is_root(const FileSample& sample) {
  constexpr std::uint64_t header_bytes = 100;
  return big(sample.head, 8, 4) == header_bytes;
}

bool is_grib(const FileSample& sample) {
  const std::uint64_t edition = little(sample.head, 7, 1);
  if (edition == 1) return reaches(sample, big(sample.head, 4, 3));
  return edition == 2 && reaches(sample, big(sample.head, 8, 8));
}

/// Recognises protocols 2 to 5. From 4 on, a frame of known length comes first. Before, one of the
/// beginnings that Python and PyTorch write does.
bool is_pickle(const FileSample& sample) {
  const std::string_view head = sample.head;
  const std::uint64_t protocol = little(head, 1, 1);
  constexpr std::uint64_t header_bytes = 11, least_frame = 4;
  if (protocol == 4 || protocol == 5) {
    const std::uint64_t frame = little(head, 3, 8);
    return has(head, 2, "\x95"sv) && frame >= least_frame && frame < beyond - header_bytes &&
           reaches(sample, header_bytes + frame);
  }
  if (protocol != 2 && protocol != 3) return false;
  for (const std::string_view start : {"]q\0"sv, "}q\0"sv, ")q\0"sv, "\x8a\x0al\xfc\x9c"sv}) {
    if (has(head, 2, start)) return true;
  }
  if (!has(head, 2, "c"sv)) return false;
  const std::string_view name = head.substr(3, head.find('\n') - 3);  // of a module
  constexpr std::size_t longest_name = 64;
  return name.size() > 2 && name.size() <= longest_name &&
         std::ranges::all_of(name, [](char letter) {
           return is_letter_or_digit(letter) || letter == '_' || letter == '.';
         });
}

std::optional<std::uint64_t> nifti_data(const FileSample& sample) {
  const std::string_view head = sample.head;
  constexpr std::uint64_t bytes_1 = 348, bytes_2 = 540;
  const auto begins_with = [&](std::uint64_t bytes) {
    return little(head, 0, 4) == bytes || big(head, 0, 4) == bytes;
  };
  const bool is_little = little(head, 1, 1) != 0;  // true: the high byte of 348 and 540 is not 0
  if (begins_with(bytes_2) && has(head, 4, "n+2\0\r\n\x1a\n"sv)) {
    return is_little ? little(head, 168, 8) : big(head, 168, 8);
  }
  if (!begins_with(bytes_1) || !has(head, 344, "n+1\0"sv)) return {};
  const std::uint64_t bits = is_little ? little(head, 108, 4) : big(head, 108, 4);
  const auto offset = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  constexpr float most_bytes = 1 << 30;
  return offset >= 0 && offset < most_bytes ? static_cast<std::uint64_t>(offset) : bytes_1 + 4;
}

std::optional<std::uint64_t> idx_data(const FileSample& sample) {
  struct Type {
    std::uint64_t code, bytes;
  };
  constexpr std::array types{Type{0x08, 1}, Type{0x09, 1}, Type{0x0b, 2},
                             Type{0x0c, 4}, Type{0x0d, 4}, Type{0x0e, 8}};
  const auto type = std::ranges::find(types, little(sample.head, 2, 1), &Type::code);
  const std::uint64_t dimensions = little(sample.head, 3, 1);
  constexpr std::uint64_t most_dimensions = 8;
  if (little(sample.head, 0, 2) != 0 || type == types.end() || dimensions == 0 ||
      dimensions > most_dimensions || !sample.bytes) {
    return {};
  }
  const std::uint64_t header_bytes = 4 + 4 * dimensions;
  std::uint64_t bytes = type->bytes;
  for (std::uint64_t i = 0; i < dimensions; ++i) {
    const std::uint64_t length = big(sample.head, 4 + 4 * i, 4);
    if (length == 0 || length == beyond || __builtin_mul_overflow(bytes, length, &bytes)) return {};
  }
  if (header_bytes + bytes != *sample.bytes) return {};
  return header_bytes;
}

}  // namespace ooc::detail::content
