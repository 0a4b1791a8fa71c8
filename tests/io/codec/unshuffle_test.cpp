#include "codec/unshuffle.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <vector>

namespace ooc::detail {
namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t count) {
  std::mt19937 random(3);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = std::byte(random());
  return bytes;
}

Bytes shuffled_bytes(const Bytes& bytes, std::size_t element_bytes) {
  Bytes shuffled = bytes;
  const std::size_t elements = bytes.size() / element_bytes;
  for (std::size_t i = 0; i < elements * element_bytes; ++i) {
    shuffled[i % element_bytes * elements + i / element_bytes] = bytes[i];
  }
  return shuffled;
}

Bytes shuffled_bits(const Bytes& bytes, std::size_t element_bytes) {
  const std::size_t elements = bytes.size() / element_bytes, row_bytes = elements / 8;
  if (elements % 8 != 0) return bytes;
  Bytes shuffled(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i >= elements * element_bytes) {
      shuffled[i] = bytes[i];
      continue;
    }
    const std::size_t element = i / element_bytes;
    for (std::size_t bit = 0; bit < 8; ++bit) {
      const std::size_t row = i % element_bytes * 8 + bit;
      const std::byte one = (bytes[i] >> bit) & std::byte{1};
      shuffled[row * row_bytes + element / 8] |= one << (element % 8);
    }
  }
  return shuffled;
}

/// Numbers of elements around the lengths that are handled at once.
constexpr std::size_t counts[]{0, 1, 7, 8, 63, 64, 65, 504, 4096, 4104, 4103, 9000};

TEST(UnshuffleBytes, PutsElementsTogether) {
  for (const std::size_t element_bytes : {1u, 2u, 3u, 4u, 7u, 8u, 12u, 16u, 24u, 255u}) {
    for (const std::size_t count : counts) {
      const Bytes bytes = random_bytes(count * element_bytes + element_bytes / 2);
      Bytes found(bytes.size());
      unshuffle_bytes(shuffled_bytes(bytes, element_bytes), element_bytes, found);
      EXPECT_TRUE(found == bytes) << element_bytes << " x " << count;
    }
  }
}

TEST(UnshuffleBits, PutsElementsTogether) {
  for (const std::size_t element_bytes : {1u, 2u, 3u, 4u, 8u, 12u, 16u, 255u}) {
    for (const std::size_t count : counts) {
      const Bytes bytes = random_bytes(count * element_bytes + element_bytes / 2);
      Bytes found(bytes.size()), room(bytes.size());
      unshuffle_bits(shuffled_bits(bytes, element_bytes), element_bytes, found, room);
      EXPECT_TRUE(found == bytes) << element_bytes << " x " << count;
    }
  }
}

}  // namespace
}  // namespace ooc::detail
