#include <gtest/gtest.h>

#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/detail/transfer/producer_reader.hpp>
#include <ooc/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "io/expect_error.hpp"
#include "support/random.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using Bytes = std::vector<std::byte>;

/// Gives bytes in pieces of random sizes.
class Pieces final : public Producer {
 public:
  explicit Pieces(const Bytes& bytes) : bytes_(bytes) {}

  std::size_t fill(std::span<std::byte> room, const std::stop_token&) override {
    EXPECT_FALSE(room.empty());
    const std::size_t most = std::min(room.size(), bytes_.size() - done_);
    const std::size_t count = most == 0 ? 0 : random_.between(1, most);
    if (count != 0) std::memcpy(room.data(), bytes_.data() + done_, count);
    done_ += count;
    return count;
  }

 private:
  const Bytes& bytes_;
  std::size_t done_ = 0;
  test::Random random_{7};
};

/// Gives zeros until it is stopped.
class Endless final : public Producer {
 public:
  std::size_t fill(std::span<std::byte> room, const std::stop_token& stop) override {
    if (stop.stop_requested()) return 0;
    std::ranges::fill(room, std::byte{0});
    return room.size();
  }
};

/// Fails at the third call.
class Failing final : public Producer {
 public:
  std::size_t fill(std::span<std::byte> room, const std::stop_token&) override {
    if (++calls_ == 3) throw std::runtime_error("the generator is broken");
    return room.size();
  }

 private:
  int calls_ = 0;
};

class ProducerReaderTest : public testing::Test {
 protected:
  static constexpr std::size_t chunk_bytes_ = 1000;

  /// Takes all chunks of a reader, as lanes do, and returns their bytes.
  Bytes take_all(ProducerReader& reader) {
    Bytes all;
    std::jthread lane([&] {
      for (std::size_t index = 0;; ++index) {
        Chunk* const chunk = pool_.wait(index, ChunkState::loaded);
        if (chunk == nullptr) return;
        for (const auto segment : chunk->segments) {
          all.insert(all.end(), segment.begin(), segment.end());
        }
        pool_.recycle(*chunk);
      }
    });
    reader.run();
    lane.join();
    return all;
  }

  ChunkPool pool_{heap_memory(), 3, chunk_bytes_, 1};
};

TEST_F(ProducerReaderTest, LoadsAllBytesInChunksOfOneSize) {
  for (const std::size_t bytes : {0u, 4u, 1000u, 1004u, 50'000u, 50'004u}) {
    const Bytes expected = test::random_bytes(bytes, 1);
    Pieces pieces(expected);
    pool_.restart();
    ProducerReader reader(pieces, pool_, chunk_bytes_, 4, {});
    EXPECT_EQ(take_all(reader), expected);
    EXPECT_EQ(reader.bytes_done(), bytes);
    EXPECT_TRUE(reader.has_ended());
  }
}

TEST_F(ProducerReaderTest, LoadsAPartOfWhatAProducerMakes) {
  const Bytes bytes = test::random_bytes(5000, 1);
  const auto part = [&](std::size_t skip, std::optional<std::uint64_t> count) {
    pool_.restart();
    const auto producer = part_of(std::make_unique<Pieces>(bytes), skip, count);
    ProducerReader reader(*producer, pool_, chunk_bytes_, 4, {});
    return take_all(reader);
  };
  EXPECT_EQ(part(0, {}), bytes);
  EXPECT_EQ(part(3000, {}), Bytes(bytes.begin() + 3000, bytes.end()));
  EXPECT_EQ(part(1001, 400), Bytes(bytes.begin() + 1001, bytes.begin() + 1401));
  EXPECT_EQ(part(5000, {}), Bytes{});
  EXPECT_EQ(part(5000, 0), Bytes{});
  test::expect_error(ErrorKind::bad_input, "ended after 5000 bytes, fewer than the 5004 to skip",
                     [&] {
                       Bytes room(100);
                       part_of(std::make_unique<Pieces>(bytes), 5004)->fill(room, {});
                     });
}

TEST_F(ProducerReaderTest, RefusesAnEndAmidARecord) {
  const Bytes bytes = test::random_bytes(1003, 1);
  Pieces pieces(bytes);
  ProducerReader reader(pieces, pool_, chunk_bytes_, 4, {});
  test::expect_error(ErrorKind::bad_input,
                     "the producer: 1003 bytes are not a whole number of records of 4 bytes",
                     [&] { reader.run(); });
}

TEST_F(ProducerReaderTest, EndsTheSequenceWhenItIsStopped) {
  Endless endless;
  std::stop_source stop;
  ProducerReader reader(endless, pool_, chunk_bytes_, 1, stop.get_token());
  std::jthread lane([&] {
    std::size_t index = 0;
    while (Chunk* const chunk = pool_.wait(index, ChunkState::loaded)) {
      if (++index == 10) stop.request_stop();
      pool_.recycle(*chunk);
    }
    EXPECT_GE(index, 10u);
  });
  reader.run();
  lane.join();
  EXPECT_FALSE(reader.has_ended());
}

TEST_F(ProducerReaderTest, EndsWhenThePassFails) {
  Endless endless;
  ProducerReader reader(endless, pool_, chunk_bytes_, 1, {});
  std::jthread lane([&] {
    pool_.wait(2, ChunkState::loaded);
    pool_.abort();
    reader.abort();
  });
  try {
    reader.run();
  } catch (const Aborted&) {
    // It waited for a slot.
  }
}

/// Fails as read() does.
class Minus final : public Producer {
 public:
  std::size_t fill(std::span<std::byte>, const std::stop_token&) override {
    return static_cast<std::size_t>(-1);
  }
};

TEST_F(ProducerReaderTest, RefusesMoreThanThereIsRoomFor) {
  Minus minus;
  ProducerReader reader(minus, pool_, chunk_bytes_, 1, {});
  test::expect_error(ErrorKind::usage,
                     "the producer: fill() returns more bytes than there was room for",
                     [&] { reader.run(); });
}

TEST_F(ProducerReaderTest, PassesErrorsOn) {
  Failing failing;
  ProducerReader reader(failing, pool_, chunk_bytes_, 1, {});
  EXPECT_THROW(reader.run(), std::runtime_error);
}

TEST_F(ProducerReaderTest, ReadsAPipe) {
  const Bytes expected = test::random_bytes(3'000'000, 1);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::jthread writer([&] {
    for (std::size_t done = 0; done < expected.size();) {
      const ssize_t written = ::write(ends[1], expected.data() + done, expected.size() - done);
      ASSERT_GT(written, 0);
      done += static_cast<std::size_t>(written);
    }
    ::close(ends[1]);
  });
  const auto producer = read_descriptor(ends[0], "a pipe");
  EXPECT_EQ(producer->name(), "a pipe");
  ProducerReader reader(*producer, pool_, chunk_bytes_, 1, {});
  EXPECT_TRUE(take_all(reader) == expected);
  writer.join();
  ::close(ends[0]);
}

TEST_F(ProducerReaderTest, StopsWhileAPipeIsSilent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "12345", 5), 5);
  const auto producer = read_descriptor(ends[0], "a pipe");
  std::stop_source stop;
  ProducerReader reader(*producer, pool_, chunk_bytes_, 2, stop.get_token());
  std::jthread other([&] {
    while (reader.bytes_done() == 0) std::this_thread::yield();
    stop.request_stop();
  });
  EXPECT_EQ(take_all(reader).size(), 4u);  // whole records
  EXPECT_FALSE(reader.has_ended());
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ReadDescriptor, SaysThatItCannotBeRead) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  for (const int descriptor : {-1, ends[1]}) {
    test::expect_error(ErrorKind::input, "the input: read failed: Bad file descriptor (EBADF)",
                       [&] { read_descriptor(descriptor, "the input"); });
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace ooc::detail
