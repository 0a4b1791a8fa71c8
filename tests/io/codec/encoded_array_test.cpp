#include <ooc/detail/codec/encoded_array.hpp>

#include <ooc/detail/transfer/reader.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/data_file.hpp"
#include "support/encoded.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::encode_pieces;
using test::encode_tiles;
using test::expect_error;

using Bytes = std::vector<std::byte>;
using Ends = std::vector<std::uint64_t>;

/// Returns bytes of which every third part is zeros.
Bytes some_bytes(std::size_t count) {
  std::mt19937 random(1);
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i * 9 / count % 3 != 1) bytes[i] = std::byte(random() % 3);
  }
  return bytes;
}

Ends ends_of(std::uint64_t bytes, std::uint64_t piece) {
  Ends ends;
  for (std::uint64_t end = 0; end < bytes; ends.push_back(end)) end = std::min(end + piece, bytes);
  return ends;
}

class EncodedArrayTest : public testing::Test {
 protected:
  test::TempDir dir_;
};

TEST_F(EncodedArrayTest, ReadsAnyPart) {
  const Bytes bytes = some_bytes(20'000);
  std::mt19937 random(2);
  for (const std::uint64_t piece : {1u, 7u, 300u, 9000u, 50'000u}) {
    for (const std::uint64_t whole_bytes : {std::uint64_t{0}, piece + 5}) {
      const auto array = encode_pieces(dir_.path(), bytes, ends_of(20'000, piece), whole_bytes);
      const File file = File::of_pieces(array);
      EXPECT_EQ(file.size(), bytes.size());
      Bytes all(bytes.size());
      read_exactly(file, 0, all);
      EXPECT_TRUE(all == bytes);
      for (int round = 0; round < 300; ++round) {
        const std::size_t from = random() % bytes.size();
        const std::size_t count = random() % (bytes.size() - from + 1);
        Bytes part(count);
        read_exactly(file, from, part);
        ASSERT_TRUE(std::ranges::equal(part, std::span(bytes).subspan(from, count)));
      }
    }
  }
}

TEST_F(EncodedArrayTest, WhatIsNotStoredIsTheFillValue) {
  const Bytes value{std::byte{1}, std::byte{2}, std::byte{3}};
  const EncodedArray array({}, {{5, 0, 0}, {50'000, 0, 0}}, {.fill = value}, "filled");
  for (const auto& [from, count] : {std::pair{0u, 50'000u}, {1u, 1u}, {2u, 30'000u}, {7u, 2u}}) {
    Bytes found(count);
    array.read(from, found);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(found[i], value[(from + i) % 3]);
  }
  EXPECT_EQ(array.work().stored_bytes, 0u);
}

/// Reads an array by `threads` threads in parts of `part` bytes, which they take in turn.
Bytes read_in_parts(const EncodedArray& array, std::size_t threads, std::size_t part) {
  Bytes found(array.size());
  std::atomic<std::size_t> next{0};
  {
    std::vector<std::jthread> readers;
    for (std::size_t i = 0; i < threads; ++i) {
      readers.emplace_back([&] {
        for (;;) {
          const std::size_t from = next.fetch_add(part);
          if (from >= found.size()) return;
          array.read(from, std::span(found).subspan(from, std::min(part, found.size() - from)));
        }
      });
    }
  }
  return found;
}

TEST_F(EncodedArrayTest, APieceIsDecodedOnceHoweverItIsDivided) {
  const Bytes bytes = some_bytes(3'000'000);
  for (const std::uint64_t piece : {4096u, 70'000u, 1'500'000u}) {
    const Ends ends = ends_of(bytes.size(), piece);
    const auto array = encode_pieces(dir_.path(), bytes, ends);
    for (const std::size_t threads : {1u, 2u, 5u}) {
      for (const std::size_t part : {1000u, 65'536u, 400'000u}) {
        const std::uint64_t before = array->work().decoded_pieces;
        EXPECT_TRUE(read_in_parts(*array, threads, part) == bytes);
        const auto decoded = static_cast<double>(array->work().decoded_pieces - before);
        // Threads that are held up may find that a piece has gone.
        EXPECT_LE(decoded, 1.05 * static_cast<double>(ends.size()) + 2)
            << piece << " by " << threads << " threads in parts of " << part;
      }
    }
    EXPECT_GT(array->work().stored_bytes, 0u);
    EXPECT_GT(array->work().seconds, 0);
  }
}

/// Run lengths whose first decoding waits until another one has begun.
class Paired final : public Codec {
 public:
  std::string_view name() const noexcept override { return "paired"; }
  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    if (++begun_ == 1) {
      for (int i = 0; i < 1000 && begun_ == 1; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      EXPECT_GT(begun_, 1u) << "no other piece is decoded meanwhile";
    }
    test::RunLengths().decode(encoded, decoded);
  }

 private:
  mutable std::atomic<std::size_t> begun_{0};
};

TEST_F(EncodedArrayTest, AThreadThatWaitsDecodesTheNextPiece) {
  const Bytes piece = test::RunLengths::encode(Bytes(100, std::byte{5}));
  const auto path = dir_.path() / "two";
  test::write_file(path, piece);
  std::vector<File> files;
  files.push_back(File::open(path));
  const EncodedArray array(std::move(files), {{100, 0, piece.size()}, {200, 0, piece.size()}},
                           {.chain = {std::make_shared<Paired>()}}, "two");
  // Both threads want the first piece.
  EXPECT_TRUE(read_in_parts(array, 2, 50) == Bytes(200, std::byte{5}));
  EXPECT_EQ(array.work().decoded_pieces, 2u);
}

TEST_F(EncodedArrayTest, TilesAreReadInTheOrderOfRows) {
  const Bytes bytes = some_bytes(3000);
  constexpr test::TileSizes sizes{.row_bytes = 30, .tile_rows = 7, .tile_bytes = 8};
  for (const std::size_t threads : {1u, 3u}) {
    for (const std::size_t part : {1u, 13u, 210u, 211u, 1000u, 3000u}) {
      const auto array = encode_tiles(dir_.path(), bytes, sizes);
      EXPECT_TRUE(read_in_parts(*array, threads, part) == bytes) << part;
      const std::uint64_t decoded = array->work().decoded_pieces;
      EXPECT_GE(decoded, 30u);
      EXPECT_LE(decoded, threads == 1 ? 15u * 4u : 15u * 4u + 3u) << part;
      Bytes again(bytes.size());  // all tiles have been given up, so each is decoded once more
      array->read(0, again);
      EXPECT_TRUE(again == bytes);
      EXPECT_LE(array->work().decoded_pieces, 2 * decoded + 3) << part;
    }
  }
  EXPECT_EQ(encode_tiles(dir_.path(), bytes, sizes)->end_of_request(0, 500), 420u);
}

TEST_F(EncodedArrayTest, PartsOfPiecesThatAreNotEncodedAreReadByThemselves) {
  const Bytes bytes = some_bytes(1000);
  const auto path = dir_.path() / "plain";
  test::write_file(path, bytes);
  const auto array_of = [&](std::uint64_t whole_bytes, std::vector<TileGrid::Side> row) {
    std::vector<File> files;
    files.push_back(File::open(path));
    return EncodedArray(
        std::move(files),
        {{.end = 400, .offset = 0, .bytes = 500}, {.end = 720, .offset = 500, .bytes = 500}},
        {.whole_bytes = whole_bytes, .row = std::move(row)}, "array");
  };
  const EncodedArray padded = array_of(500, {});
  EXPECT_TRUE(padded.is_divisible());
  Bytes part(320);
  padded.read(90, part);
  EXPECT_TRUE(std::ranges::equal(std::span(part).first(310), std::span(bytes).subspan(90, 310)));
  EXPECT_TRUE(std::ranges::equal(std::span(part).last(10), std::span(bytes).subspan(500, 10)));
  EXPECT_EQ(padded.work().stored_bytes, 320u);
  EXPECT_EQ(padded.work().decoded_pieces, 0u);
  EXPECT_EQ(padded.end_of_request(10, 200), 200u);
  EXPECT_EQ(padded.end_of_request(10, 600), 400u);
  // Rows of 40 bytes, of which 50 are stored.
  const EncodedArray padded_rows = array_of(500, {{.length = 40, .tile = 50}});
  EXPECT_FALSE(padded_rows.is_divisible());
  EXPECT_FALSE(padded_rows.is_regular());
  Bytes rows(80);
  padded_rows.read(0, rows);
  EXPECT_TRUE(std::ranges::equal(std::span(rows).last(40), std::span(bytes).subspan(50, 40)));
  EXPECT_FALSE(array_of(600, {}).is_divisible()) << "a piece is shorter than it should be";
}

TEST_F(EncodedArrayTest, RequestsEndWithPieces) {
  const auto array = encode_pieces(dir_.path(), some_bytes(100), {10, 20, 90, 100});
  EXPECT_EQ(array->end_of_request(0, 10), 10u);
  EXPECT_EQ(array->end_of_request(0, 29), 20u);
  EXPECT_EQ(array->end_of_request(0, 9), 10u);
  EXPECT_EQ(array->end_of_request(15, 100), 100u);
  EXPECT_EQ(array->end_of_request(25, 30), 90u);
  EXPECT_EQ(array->end_of_request(25, 95), 90u);
  EXPECT_EQ(array->end_of_request(95, 99), 100u);
}

TEST_F(EncodedArrayTest, SaysWhichPieceIsDamaged) {
  const Bytes bytes(1000, std::byte{5});
  const auto array = encode_pieces(dir_.path(), bytes, {400, 1000});
  for (const char* const name : {"encoded-0", "encoded-1"}) {
    const auto path = dir_.path() / name;
    const auto size = std::filesystem::file_size(path);
    if (size != 0) test::write_file(path, Bytes(size, std::byte{0}));
  }
  Bytes found(1000);
  expect_error(ErrorKind::bad_input, "encoded: piece 1 is damaged: these run lengths",
               [&] { array->read(500, std::span(found).first(100)); });
  expect_error(ErrorKind::bad_input, "encoded: piece 0 is damaged",
               [&] { array->read(0, std::span(found).first(400)); });
  EXPECT_THROW(File::of_pieces(array).check_unchanged(), Error);
}

TEST_F(EncodedArrayTest, RefusesPiecesThatCannotBe) {
  const auto refused = [&](const std::string& what, std::vector<EncodedArray::Piece> pieces,
                           std::uint64_t whole_bytes = 0, std::vector<TileGrid::Side> row = {}) {
    std::vector<File> files;
    files.push_back(File::open(dir_.write("x", std::string(100, 'x'))));
    expect_error(ErrorKind::bad_input, what, [&] {
      const EncodedArray array(std::move(files), std::move(pieces),
                               {.whole_bytes = whole_bytes, .row = std::move(row)}, "hostile");
    });
  };
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  refused("hostile: piece 1 has no bytes in the array", {{10, 0, 10}, {10, 0, 10}});
  refused("piece 1 has no bytes in the array", {{10, 0, 10}, {5, 0, 10}});
  refused("piece 0 is not in its file", {{10, 91, 10}});
  refused("piece 0 is not in its file", {{10, huge, 10}});
  refused("piece 0 is not in its file", {{10, 0, 10, 1}});
  refused("piece 0 is larger than", {{std::uint64_t{1} << 40, 0, 10}});
  refused("piece 0 is larger than", {{10, 0, huge}});
  refused("piece 0 is larger than", {{10, 0, 10}}, huge);
  refused("has more bytes in the array than it decodes to", {{10, 0, 10}}, 9);
  const std::vector<TileGrid::Side> row{{4, 3}};
  refused("piece 1 has no bytes in the array", {{8, 0, 10}, {9, 0, 10}}, 100, row);
  refused("piece 0 has no bytes in the array", {{9, 0, 10}, {9, 0, 10}}, 100, row);
  refused("piece 0 has more bytes in the array than it", {{8, 0, 10}, {8, 0, 10}}, 5, row);
  refused("piece 0 is of a band of more than",
          {{std::uint64_t{1} << 40, 0, 0}, {std::uint64_t{1} << 40, 0, 0}}, 100, row);
}

TEST_F(EncodedArrayTest, HasAnotherFingerprintForOtherPlaces) {
  const auto text_of = [&](std::vector<EncodedArray::Piece> pieces, std::byte fill = {}) {
    std::vector<File> files;
    files.push_back(File::open(dir_.write("x", std::string(100, 'x'))));
    return EncodedArray(std::move(files), std::move(pieces), {.fill = {fill}}, "x").fingerprint();
  };
  EXPECT_EQ(text_of({{10, 0, 10}}), text_of({{10, 0, 10}}));
  EXPECT_NE(text_of({{10, 0, 10}}), text_of({{10, 1, 10}}));
  EXPECT_NE(text_of({{10, 0, 10}}), text_of({{10, 0, 9}}));
  EXPECT_NE(text_of({{10, 0, 10}}), text_of({{10, 0, 10}}, std::byte{1}));
}

}  // namespace
}  // namespace ooc::detail
