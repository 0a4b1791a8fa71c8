#include "codec/unshuffle.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>

namespace ooc::detail {
namespace {

// These loops are plain, so that compilers make vectors of them. SSE2 is as fast as wider vectors.

/// Undoes a shuffle of elements whose size is constant.
template <std::size_t element_bytes>
void interleave(const std::byte* __restrict in, std::size_t elements, std::byte* __restrict out) {
  for (std::size_t i = 0; i < elements; ++i) {
    for (std::size_t place = 0; place < element_bytes; ++place) {
      out[i * element_bytes + place] = in[place * elements + i];
    }
  }
}

void interleave_any(const std::byte* __restrict in, std::size_t elements, std::size_t element_bytes,
                    std::byte* __restrict out) {
  constexpr std::size_t some = 64;  // elements, whose bytes stay in the nearest cache
  for (std::size_t first = 0; first < elements; first += some) {
    const std::size_t end = std::min(first + some, elements);
    for (std::size_t place = 0; place < element_bytes; ++place) {
      for (std::size_t i = first; i < end; ++i) {
        out[i * element_bytes + place] = in[place * elements + i];
      }
    }
  }
}

constexpr std::size_t byte_bits = 8;
constexpr std::size_t part_bytes = 512;  // of a row, which are transposed at once

using Rows = std::array<std::array<std::uint8_t, part_bytes>, byte_bits>;

/// Exchanges bits of each two rows that are `step` apart.
template <unsigned step>
void exchange_bits(Rows& rows) {
  constexpr std::uint8_t mask = step == 1 ? 0x55 : step == 2 ? 0x33 : 0x0f;
  for (std::size_t row = 0; row < byte_bits; ++row) {
    if ((row & step) != 0) continue;
    std::uint8_t* __restrict const low = rows[row].data();
    std::uint8_t* __restrict const high = rows[row + step].data();
    for (std::size_t i = 0; i < part_bytes; ++i) {
      const auto differ = static_cast<std::uint8_t>(((low[i] >> step) ^ high[i]) & mask);
      high[i] = static_cast<std::uint8_t>(high[i] ^ differ);
      low[i] = static_cast<std::uint8_t>(low[i] ^ (differ << step));
    }
  }
}

/// Makes bytes of 8 rows of bits, one behind another: row i has bit i of each.
void gather_bits(const std::byte* in, std::size_t row_bytes, std::byte* out) {
  Rows rows{};
  std::array<std::byte, sizeof rows> bytes;
  for (std::size_t first = 0; first < row_bytes; first += part_bytes) {
    const std::size_t count = std::min(part_bytes, row_bytes - first);
    for (std::size_t bit = 0; bit < byte_bits; ++bit) {
      std::memcpy(rows[bit].data(), in + bit * row_bytes + first, count);
    }
    exchange_bits<1>(rows);
    exchange_bits<2>(rows);
    exchange_bits<4>(rows);
    interleave<byte_bits>(reinterpret_cast<const std::byte*>(rows.data()), part_bytes,
                          bytes.data());
    std::memcpy(out + byte_bits * first, bytes.data(), byte_bits * count);
  }
}

}  // namespace

void unshuffle_bytes(std::span<const std::byte> in, std::size_t element_bytes,
                     std::span<std::byte> out) {
  assert(element_bytes != 0 && in.size() == out.size());
  if (in.empty()) return;
  const std::size_t elements = in.size() / element_bytes, whole = elements * element_bytes;
  switch (element_bytes) {
    case 1: std::memcpy(out.data(), in.data(), whole); break;
    case 2: interleave<2>(in.data(), elements, out.data()); break;
    case 4: interleave<4>(in.data(), elements, out.data()); break;
    case 8: interleave<8>(in.data(), elements, out.data()); break;
    case 16: interleave<16>(in.data(), elements, out.data()); break;
    default: interleave_any(in.data(), elements, element_bytes, out.data());
  }
  std::memcpy(out.data() + whole, in.data() + whole, in.size() - whole);
}

void unshuffle_bits(std::span<const std::byte> in, std::size_t element_bytes,
                    std::span<std::byte> out, std::span<std::byte> room) {
  assert(element_bytes != 0 && in.size() == out.size() && in.size() == room.size());
  if (in.empty()) return;
  const std::size_t elements = in.size() / element_bytes, whole = elements * element_bytes;
  if (elements % byte_bits != 0) {
    std::memcpy(out.data(), in.data(), in.size());
    return;
  }
  for (std::size_t place = 0; place < element_bytes; ++place) {
    gather_bits(in.data() + place * elements, elements / byte_bits, room.data() + place * elements);
  }
  std::memcpy(room.data() + whole, in.data() + whole, in.size() - whole);
  unshuffle_bytes(room, element_bytes, out);
}

}  // namespace ooc::detail
