// Tests Decoder::gather(). A GPU copies many small pieces of page-locked memory by kernels, which
// take up to 2,000 each, and any others one by one.

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/device/decoder.hpp>
#include <ooc/device.hpp>
#include <ooc/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/counted_new.hpp"
#include "support/devices.hpp"
#include "support/random.hpp"

namespace ooc::detail {
namespace {

constexpr std::size_t word_bytes = 16;

/// A place in a block of memory.
struct Place {
  std::size_t begin, bytes;
};

/// Returns the places of pieces of these sizes, with some bytes between them.
std::vector<Place> apart(const std::vector<std::size_t>& sizes, test::Random& random) {
  std::vector<Place> places;
  std::size_t begin = 0;
  for (const std::size_t bytes : sizes) {
    begin += random.below(40);
    places.push_back({begin, bytes});
    begin += bytes;
  }
  return places;
}

void shuffle(std::vector<Place>& places, test::Random& random) {
  for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random.below(i)]);
}

class GatherTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    OOC_SKIP_WITHOUT(GetParam());
    device_ = make_device(GetParam());
    device_->bind_to_thread();
    stream_ = device_->make_stream();
  }

  /// Expects the bytes at `places` of `source`, which are random, one behind the other on the
  /// device. They begin `shift` bytes after a word. Bytes around them stay.
  void expect_gathered(std::span<std::byte> source, const std::vector<Place>& places,
                       std::size_t shift) {
    constexpr std::size_t room = 100;
    std::vector<std::span<std::byte>> pieces;
    std::vector<std::byte> expected(word_bytes + shift, std::byte{0xee});
    for (const auto& [begin, bytes] : places) {
      pieces.push_back(source.subspan(begin, bytes));
      expected.insert(expected.end(), pieces.back().begin(), pieces.back().end());
    }
    expected.insert(expected.end(), room, std::byte{0xee});
    std::vector<std::byte> found(expected.size(), std::byte{0xee});
    const Buffer there(device_->device_memory(), expected.size());
    stream_->copy(there.data(), found.data(), found.size());
    decoder_of(*stream_).gather(there.data() + word_bytes + shift, pieces);
    stream_->copy(found.data(), there.data(), found.size());
    stream_->synchronize();
    EXPECT_TRUE(found == expected)
        << "byte " << std::ranges::mismatch(found, expected).in1 - found.begin() << " of "
        << found.size();
  }

  /// The same for pieces of host memory of the device, which are in it in another order.
  void expect_gathered(const std::vector<std::size_t>& sizes, std::size_t shift = 0) {
    std::vector<Place> places = apart(sizes, random_);
    const Buffer memory = random_memory(places.back().begin + places.back().bytes);
    shuffle(places, random_);
    expect_gathered({memory.data(), memory.size()}, places, shift);
  }

  Buffer random_memory(std::size_t bytes) {
    Buffer memory(device_->host_memory(), round_up(bytes, word_bytes));
    std::generate_n(memory.data(), bytes, [this] { return std::byte(random_()); });
    return memory;
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  test::Random random_{1};
};

INSTANTIATE_TEST_SUITE_P(Devices, GatherTest, test::all_devices, test::device_name);

TEST_P(GatherTest, PutsPiecesOneBehindTheOther) {
  expect_gathered({16'384, 16'384, 16'384, 16'384});
  expect_gathered({3, 1, 4, 1, 5, 9, 2, 6}, 3);
  expect_gathered({1000});
}

TEST_P(GatherTest, NoPiecesAreNoBytes) {
  const Buffer memory = random_memory(100);
  expect_gathered({memory.data(), memory.size()}, {}, 0);
  expect_gathered({memory.data(), memory.size()}, {{50, 0}, {20, 0}}, 5);
  expect_gathered({memory.data(), memory.size()}, {{50, 0}, {20, 1}, {20, 0}, {3, 7}, {0, 0}}, 0);
}

// Each source and target, in bytes after a word, with each size up to 100 bytes.
TEST_P(GatherTest, PiecesBeginAndEndAnywhere) {
  constexpr std::size_t most_bytes = 100;
  const Buffer memory = random_memory(word_bytes + most_bytes);
  for (std::size_t from = 0; from < word_bytes; ++from) {
    for (std::size_t to = 0; to < word_bytes; ++to) {
      std::vector<Place> places;
      std::size_t target = 0;
      for (std::size_t bytes = 0; bytes <= most_bytes; ++bytes) {
        // Another piece is before it, so that it is written to its place.
        places.push_back({random_.below(word_bytes), (to - target) % word_bytes});
        places.push_back({from, bytes});
        target = to + bytes;
      }
      SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
      expect_gathered({memory.data(), memory.size()}, places, 0);
    }
  }
}

TEST_P(GatherTest, PiecesAreAsManyAsTheyLike) {
  for (const std::size_t count : {1999u, 2000u, 2001u, 4000u, 9000u}) {
    for (const std::size_t most_bytes : {1u, 20u, 3000u}) {
      std::vector<std::size_t> sizes(count);
      std::ranges::generate(sizes, [&] { return random_.between(0, most_bytes); });
      SCOPED_TRACE(std::to_string(count) + " of up to " + std::to_string(most_bytes));
      expect_gathered(sizes, random_.below(word_bytes));
    }
  }
}

// Their mean is less than a MiB.
TEST_P(GatherTest, SmallPiecesMayBeBesideALargeOne) {
  expect_gathered({1, 8 * MiB + 3, 2, 100'000, 0, 16, 17, 2047, 2048, 2049, 65'536, 15}, 9);
  expect_gathered({70'000, 1, 3 * MiB, 1, 5}, 0);
}

TEST_P(GatherTest, LargePieces) {
  expect_gathered({2 * MiB, 1 * MiB + 1, 3 * MiB - 5}, 7);
}

// As memory is in which lanes find arrays of the program.
TEST_P(GatherTest, MemoryNeedNotBePageLocked) {
  std::vector<std::byte> memory(3'000'000);
  std::ranges::generate(memory, [this] { return std::byte(random_()); });
  const std::vector<std::size_t> sizes(100, 20'003);
  std::vector<Place> places = apart(sizes, random_);
  shuffle(places, random_);
  expect_gathered(memory, places, 1);
}

TEST_P(GatherTest, AllocatesNothing) {
  const Buffer memory = random_memory(1'000'000);
  const Buffer there(device_->device_memory(), memory.size());
  std::vector<std::span<std::byte>> pieces;
  for (std::size_t i = 0; i < 10'000; ++i) pieces.emplace_back(memory.data() + i * 100, 100);
  const std::uint64_t allocations = device_->device_memory().allocations();
  const auto gather = [&] { decoder_of(*stream_).gather(there.data(), pieces); };
  EXPECT_EQ(test::count_of_new_when_repeated(gather), 0);
  stream_->synchronize();
  EXPECT_EQ(device_->device_memory().allocations(), allocations);
}

}  // namespace
}  // namespace ooc::detail
