#include "content/deflate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ooc::detail {
namespace {

constexpr unsigned longest_code = 15;  // bits

/// Thrown where the bytes end, with `is_valid` true, or where they contradict the format.
struct End {
  bool is_valid;
};

/// Reads bits from the lowest of the first byte on.
class BitReader {
 public:
  explicit BitReader(std::string_view bytes) : bytes_(bytes) {}

  unsigned read(unsigned count) {
    unsigned value = 0;
    for (unsigned bit = 0; bit < count; ++bit) value |= read_bit() << bit;
    return value;
  }

  void skip_to_byte() { position_ = (position_ + 7) / 8 * 8; }
  void skip_bytes(std::size_t count) { position_ += 8 * count; }

  /// Returns the number of whole bytes left; 0 if a stored block extends past the end.
  std::size_t left() const { return bytes_.size() - std::min((position_ + 7) / 8, bytes_.size()); }

 private:
  unsigned read_bit() {
    if (position_ / 8 >= bytes_.size()) throw End{true};
    const auto byte = static_cast<unsigned char>(bytes_[position_ / 8]);
    return byte >> (position_++ % 8) & 1u;
  }

  std::string_view bytes_;
  std::size_t position_ = 0;  // in bits
};

/// A canonical Huffman code: symbols in the order of their codes.
class HuffmanCode {
 public:
  /// Throws End unless the lengths are those of a complete code. A code of one symbol, which has
  /// one bit, is allowed if `may_be_short`.
  HuffmanCode(std::span<const std::uint8_t> lengths, bool may_be_short) {
    for (const std::uint8_t length : lengths) counts_.at(length) += 1;
    counts_[0] = 0;
    unsigned left = 1, symbols = 0;  // codes of a length that are not used
    for (unsigned length = 1; length <= longest_code; ++length) {
      left *= 2;
      if (counts_[length] > left) throw End{false};
      left -= counts_[length];
      symbols += counts_[length];
    }
    if (left != 0 && !(may_be_short && symbols <= 1)) throw End{false};
    std::array<std::size_t, longest_code + 2> first{};
    for (unsigned length = 1; length <= longest_code; ++length) {
      first[length + 1] = first[length] + counts_[length];
    }
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      if (lengths[symbol] != 0) {
        symbols_[first[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
      }
    }
  }

  unsigned read(BitReader& bits) const {
    unsigned code = 0, first = 0, index = 0;
    for (unsigned length = 1; length <= longest_code; ++length) {
      code |= bits.read(1);
      if (code < first + counts_[length]) return symbols_[index + code - first];
      index += counts_[length];
      first = (first + counts_[length]) * 2;
      code *= 2;
    }
    throw End{false};
  }

 private:
  std::array<unsigned, longest_code + 1> counts_{};
  std::array<std::uint16_t, 288> symbols_{};
};

struct Codes {
  HuffmanCode literals, distances;
};

Codes fixed_codes() {
  std::array<std::uint8_t, 288> literals;
  std::fill_n(literals.begin(), 144, std::uint8_t{8});
  std::fill_n(literals.begin() + 144, 112, std::uint8_t{9});
  std::fill_n(literals.begin() + 256, 24, std::uint8_t{7});
  std::fill_n(literals.begin() + 280, 8, std::uint8_t{8});
  std::array<std::uint8_t, 32> distances;
  distances.fill(5);
  return {HuffmanCode(literals, false), HuffmanCode(distances, false)};
}

Codes read_codes(BitReader& bits) {
  const unsigned literals = bits.read(5) + 257, distances = bits.read(5) + 1;
  const unsigned code_lengths = bits.read(4) + 4;
  constexpr unsigned most_literals = 286, most_distances = 30;
  if (literals > most_literals || distances > most_distances) throw End{false};
  constexpr std::array<std::uint8_t, 19> order{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                               11, 4,  12, 3, 13, 2, 14, 1, 15};
  std::array<std::uint8_t, 19> lengths_of_lengths{};
  for (unsigned i = 0; i < code_lengths; ++i) {
    lengths_of_lengths[order[i]] = static_cast<std::uint8_t>(bits.read(3));
  }
  const HuffmanCode code(lengths_of_lengths, false);
  std::array<std::uint8_t, most_literals + most_distances> lengths{};
  for (unsigned i = 0; i < literals + distances;) {
    const unsigned symbol = code.read(bits);
    if (symbol < 16) {
      lengths[i++] = static_cast<std::uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && i == 0) throw End{false};
    const std::uint8_t repeated = symbol == 16 ? lengths[i - 1] : std::uint8_t{0};
    unsigned times = 11;
    if (symbol == 16) times = 3 + bits.read(2);
    if (symbol == 17) times = 3 + bits.read(3);
    if (symbol == 18) times += bits.read(7);
    if (i + times > literals + distances) throw End{false};
    while (times-- > 0) lengths[i++] = repeated;
  }
  constexpr std::size_t end_of_block = 256;
  if (lengths[end_of_block] == 0) throw End{false};
  const std::span all(lengths);
  return {HuffmanCode(all.first(literals), true),
          HuffmanCode(all.subspan(literals, distances), true)};
}

/// Decodes a block. `done`: number of bytes decoded so far, to which this function adds. It is
/// needed because no match may refer to a place before the first byte.
void skip_block(BitReader& bits, const Codes& codes, std::size_t& done) {
  constexpr unsigned end_of_block = 256, last_length = 285, last_distance = 29;
  for (;;) {
    const unsigned symbol = codes.literals.read(bits);
    if (symbol == end_of_block) return;
    if (symbol < end_of_block) {
      ++done;
      continue;
    }
    if (symbol > last_length) throw End{false};
    const unsigned step = symbol - 257;
    const unsigned extra = step < 8 || symbol == last_length ? 0 : step / 4 - 1;
    const unsigned base = step < 8 ? 3 + step : 3 + ((4 + step % 4) << extra);
    const std::size_t length = symbol == last_length ? 258 : base + bits.read(extra);
    const unsigned code = codes.distances.read(bits);
    if (code > last_distance) throw End{false};
    const unsigned more = code < 4 ? 0 : code / 2 - 1;
    const std::size_t distance = (code < 4 ? code : (2 + code % 2) << more) + 1 + bits.read(more);
    if (distance > done) throw End{false};
    done += length;
  }
}

void skip_stream(BitReader& bits) {
  std::size_t done = 0;
  for (bool is_last = false; !is_last;) {
    is_last = bits.read(1) != 0;
    switch (bits.read(2)) {
      case 0: {
        bits.skip_to_byte();
        const unsigned bytes = bits.read(16), inverted = bits.read(16);
        if ((bytes ^ inverted) != 0xffff) throw End{false};
        bits.skip_bytes(bytes);
        done += bytes;
        break;
      }
      case 1: skip_block(bits, fixed_codes(), done); break;
      case 2: skip_block(bits, read_codes(bits), done); break;
      default: throw End{false};
    }
  }
}

}  // namespace

bool begins_like_deflate(std::string_view bytes) {
  constexpr std::size_t enough = 64;          // fewer may be valid by chance
  constexpr std::size_t longest_trailer = 8;  // checksum and length, behind a stream that ends
  BitReader bits(bytes);
  try {
    skip_stream(bits);
  } catch (const End& end) {
    return end.is_valid && bytes.size() >= enough;
  }
  std::string_view behind = bytes.substr(bytes.size() - bits.left());
  behind.remove_prefix(std::min(behind.size(), longest_trailer));
  // The rest may be padding, or the next member of a gzip file.
  return behind.find_first_not_of('\0') == std::string_view::npos ||
         behind.starts_with("\x1f\x8b\x08");
}

}  // namespace ooc::detail
