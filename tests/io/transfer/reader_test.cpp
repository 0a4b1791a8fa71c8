#include <gtest/gtest.h>

#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/pool/tickets.hpp>
#include <ooc/detail/transfer/reader.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/counted_new.hpp"
#include "support/engines.hpp"
#include "support/faulty_engine.hpp"
#include "support/slow_engine.hpp"
#include "support/temp_dir.hpp"
#include "support/wrapped_engine.hpp"

namespace ooc::detail {
namespace {

using test::TempDir;
using Bytes = std::vector<std::byte>;

/// Options of a pass. The data that it reads must not depend on them.
struct PassOptions {
  EngineKind kind = EngineKind::automatic;
  bool direct = false;
  std::size_t chunk_bytes = 10'000;
  std::size_t block_bytes = 4096;
  std::size_t slots = 3;
  std::size_t depth = 4;
  std::size_t lanes = 2;
};

/// Files with random contents, and passes over parts of them.
class Dataset {
 public:
  explicit Dataset(std::span<const std::size_t> sizes) {
    for (const std::size_t size : sizes) {
      const auto index = static_cast<unsigned>(files_.size());
      contents_.push_back(test::random_bytes(size, index));
      files_.push_back(File::open(directory_.write(std::to_string(index), contents_.back())));
    }
  }

  std::span<const File> files() const { return files_; }

  Bytes expected(std::span<const Extent> extents) const {
    Bytes bytes;
    for (const Extent& extent : extents) {
      const auto begin =
          contents_[extent.file].begin() + static_cast<std::ptrdiff_t>(extent.offset);
      bytes.insert(bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(extent.bytes));
    }
    return bytes;
  }

 private:
  TempDir directory_;
  std::vector<Bytes> contents_;
  std::vector<File> files_;
};

/// A pass of a reader and some lanes. The lanes copy each chunk to its position in the result.
class ReaderPass {
 public:
  ReaderPass(const Dataset& dataset, const std::vector<Extent>& extents, const PassOptions& options)
      : options_(options),
        plan_(extents, options.chunk_bytes),
        pool_(heap_memory(), options.slots,
              std::min<std::uint64_t>(options.chunk_bytes, plan_.bytes()) +
                  Reader::slack_bytes(plan_.max_runs(), options.direct),
              plan_.max_extents()),
        engine_(make_engine({.kind = options.kind,
                             .depth = options.depth,
                             .threads = 2,
                             .storage = pool_.memory(),
                             .storage_piece = pool_.slot_bytes()})),
        dataset_(dataset) {}

  void replace_engine(std::size_t good_reads, std::function<void()> fault) {
    engine_ = std::make_unique<test::FaultyEngine>(std::move(engine_), good_reads, fault);
  }

  /// Lets `tuner` change the queue depth and the number of slots, which is `slots` at first. Its
  /// clock is the simulated one of a SlowEngine.
  void tune(QueueTuner& tuner, std::size_t slots, std::size_t& most_in_flight) {
    engine_ = std::make_unique<test::SlowEngine>(std::move(engine_), now_, most_in_flight);
    tuner_ = &tuner;
    slots_ = slots;
    pool_.restart(slots);
  }

  /// Returns the bytes that the lanes received, which must be a prefix of the plan. Call it once.
  Bytes run(std::stop_token stop = {}) {
    received_.assign(plan_.bytes(), std::byte{0});
    tickets_.emplace(plan_.size(), stop);
    {
      std::vector<std::jthread> lanes;
      for (std::size_t lane = 0; lane < options_.lanes; ++lane) {
        lanes.emplace_back([this] { consume(); });
      }
      Reader reader(dataset_.files(), plan_, pool_, std::move(engine_), options_.block_bytes,
                    options_.direct);
      if (tuner_ != nullptr) {
        const std::size_t others = slots_ - chunks_read(tuner_->wanted());
        const auto changed = [=, this](std::size_t n) { pool_.set_limit(others + chunks_read(n)); };
        reader.set_tuner(*tuner_, changed, [this] { return now_; });
      }
      const std::size_t allocations = test::count_of_new_by_this_thread();
      try {
        reader.run([this] { return tickets_->end(); });
        allocations_ = test::count_of_new_by_this_thread() - allocations;
      } catch (...) {
        pool_.abort();
        lanes.clear();
        throw;
      }
      bytes_read_ = reader.bytes_done();
      EXPECT_GE(reader.seconds_busy(), 0);
      EXPECT_GE(reader.seconds_waiting(), 0);
    }
    EXPECT_LE(received_bytes_, bytes_read_);
    received_.resize(received_bytes_);
    return received_;
  }

  std::size_t allocations() const { return allocations_; }
  const SequentialPlan& plan() const { return plan_; }
  std::function<void(std::size_t)> on_chunk = [](std::size_t) {};

 private:
  void consume() {
    try {
      while (const std::optional<std::size_t> drawn = tickets_->draw()) {
        const std::size_t i = *drawn;
        const Chunk* chunk = pool_.wait(i, ChunkState::loaded);
        auto target = received_.begin() + static_cast<std::ptrdiff_t>(plan_.chunk(i).first);
        std::vector<Extent> storage(plan_.max_extents());
        const auto extents = plan_.extents(i, storage);
        EXPECT_EQ(chunk->segments.size(), extents.size());
        for (std::size_t s = 0; s < extents.size(); ++s) {
          EXPECT_EQ(chunk->segments[s].size(), extents[s].bytes);
          const bool joins = std::ranges::any_of(extents, [&](const Extent& before) {
            return before.file == extents[s].file &&
                   before.offset + before.bytes == extents[s].offset;
          });
          const auto place = reinterpret_cast<std::uintptr_t>(chunk->segments[s].data());
          EXPECT_TRUE(joins ||
                      place % page_bytes ==
                          (reads_directly(extents[s]) ? extents[s].offset % page_bytes : 0));
          target = std::copy(chunk->segments[s].begin(), chunk->segments[s].end(), target);
        }
        received_bytes_ += plan_.bytes(i);
        on_chunk(i);
        pool_.recycle(*chunk);
      }
      pool_.end_at(tickets_->end());
    } catch (const Aborted&) {
    }
  }

  std::size_t chunks_read(std::size_t depth) const {
    return divide_up(depth * options_.block_bytes, options_.chunk_bytes);
  }

  bool reads_directly(const Extent& extent) const {
    return options_.direct && dataset_.files()[extent.file].direct() >= 0;
  }

  PassOptions options_;
  SequentialPlan plan_;
  ChunkPool pool_;
  std::unique_ptr<Engine> engine_;
  QueueTuner* tuner_ = nullptr;
  QueueTuner::Clock::time_point now_{std::chrono::hours(1)};  // the tuner's clock
  std::size_t slots_ = 0;
  const Dataset& dataset_;
  std::optional<Tickets> tickets_;
  Bytes received_;
  std::uint64_t bytes_read_ = 0;
  std::size_t allocations_ = 0;
  std::atomic<std::uint64_t> received_bytes_ = 0;
};

std::vector<Extent> whole_files(std::span<const File> files) {
  std::vector<Extent> extents;
  for (std::uint32_t i = 0; i < files.size(); ++i) extents.push_back({i, 0, files[i].size()});
  return extents;
}

std::vector<Extent> random_extents(std::span<const File> files, std::mt19937& random) {
  std::vector<Extent> extents(1 + random() % 7);
  for (Extent& extent : extents) {
    extent.file = static_cast<std::uint32_t>(random() % files.size());
    const std::uint64_t size = files[extent.file].size();
    extent.offset = random() % (size + 1);
    if (random() % 3 == 0) extent.offset = round_down(extent.offset, page_bytes);
    extent.bytes = random() % (size - extent.offset + 1);
    if (random() % 3 == 0) extent.bytes = size - extent.offset;
    if (random() % 5 == 0) extent.bytes = std::min<std::uint64_t>(extent.bytes, random() % 20);
  }
  return extents;
}

class ReaderTest : public test::EachWay {
 protected:
  static PassOptions options() { return {.kind = kind(), .direct = direct()}; }
};

TEST_P(ReaderTest, DeliversEveryByteOnceWhateverTheLayout) {
  const Dataset dataset(std::vector<std::size_t>{100'000, 4096, 5000, 0, 1, 65'536});
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const auto extents = random_extents(dataset.files(), random);
    PassOptions options = this->options();
    options.chunk_bytes = 1 + random() % 40'000;
    if (round % 4 == 0) options.chunk_bytes = page_bytes * (1 + random() % 8);
    options.block_bytes = std::size_t{4096} << random() % 4;
    options.slots = 1 + random() % 5;
    options.depth = 1 + random() % 9;
    options.lanes = 1 + random() % 4;
    ReaderPass pass(dataset, extents, options);
    EXPECT_EQ(pass.run(), dataset.expected(extents)) << "round " << round;
  }
}

TEST_P(ReaderTest, ReadsNothingFromNothing) {
  const Dataset dataset(std::vector<std::size_t>{0, 0});
  EXPECT_EQ(ReaderPass(dataset, whole_files(dataset.files()), options()).run(), Bytes{});
}

TEST_P(ReaderTest, ReadsManySmallFilesAsOne) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < 100; ++i) sizes.push_back(i * 7 % 50);
  const Dataset dataset(sizes);
  const auto extents = whole_files(dataset.files());
  PassOptions options = this->options();
  options.chunk_bytes = 500;
  EXPECT_EQ(ReaderPass(dataset, extents, options).run(), dataset.expected(extents));
}

TEST_P(ReaderTest, AllocatesNothingWhileItReads) {
  const Dataset dataset(std::vector<std::size_t>{1'000'000, 30'001});
  const std::vector<Extent> extents{{0, 17, 900'000}, {1, 1, 30'000}, {0, 0, 1'000'000}};
  ReaderPass pass(dataset, extents, options());
  EXPECT_EQ(pass.run(), dataset.expected(extents));
  EXPECT_EQ(pass.allocations(), 0u);
}

// The tuner tries more requests than it starts with, and other numbers of slots. The data must not
// change.
TEST_P(ReaderTest, ReadsTheSameWhileItsQueueIsTuned) {
  const Dataset dataset(std::vector<std::size_t>{4'000'000});
  const auto extents = whole_files(dataset.files());
  PassOptions options = this->options();
  options.chunk_bytes = 2 * options.block_bytes;
  options.slots = 3 + 4;
  options.depth = 8;
  std::size_t most_in_flight = 0;
  ReaderPass pass(dataset, extents, options);
  QueueTuner tuner(2, 2, options.depth, options.block_bytes);
  pass.tune(tuner, 3 + 1, most_in_flight);
  EXPECT_EQ(pass.run(), dataset.expected(extents));
  EXPECT_EQ(pass.allocations(), 0u);
  EXPECT_GE(most_in_flight, 4u);
  EXPECT_LE(most_in_flight, options.depth);
}

TEST_P(ReaderTest, StopsWithAPrefix) {
  const Dataset dataset(std::vector<std::size_t>{500'000});
  const auto extents = whole_files(dataset.files());
  const Bytes expected = dataset.expected(extents);
  for (std::size_t last = 0; last < 20; last += 3) {
    PassOptions options = this->options();
    options.slots = 1 + last % 4;
    ReaderPass pass(dataset, extents, options);
    std::stop_source stop;
    pass.on_chunk = [&](std::size_t index) {
      if (index == last) stop.request_stop();
    };
    const Bytes received = pass.run(stop.get_token());
    EXPECT_GT(received.size(), last * options.chunk_bytes);
    // Lanes that are faster than the one that stops the pass may be a window of the pool ahead.
    EXPECT_LE(received.size(),
              (last + std::bit_ceil(4 * options.slots) + options.lanes) * options.chunk_bytes);
    EXPECT_TRUE(std::equal(received.begin(), received.end(), expected.begin()));
  }
}

// With one lane, the last chunk is not drawn before the previous one is recycled.
TEST_P(ReaderTest, StopsBeforeTheLastChunk) {
  const Dataset dataset(std::vector<std::size_t>{50'000});
  PassOptions options = this->options();
  options.slots = options.lanes = 1;
  ReaderPass pass(dataset, whole_files(dataset.files()), options);
  std::stop_source stop;
  pass.on_chunk = [&](std::size_t index) {
    if (index == 3) stop.request_stop();
  };
  EXPECT_EQ(pass.run(stop.get_token()).size(), 40'000u);
}

TEST_P(ReaderTest, ReadsNothingIfStoppedBefore) {
  const Dataset dataset(std::vector<std::size_t>{500'000});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(ReaderPass(dataset, whole_files(dataset.files()), options()).run(stop.get_token()),
            Bytes{});
}

TEST_P(ReaderTest, PassesErrorsOn) {
  const Dataset dataset(std::vector<std::size_t>{500'000});
  const auto extents = whole_files(dataset.files());
  for (const std::size_t good_reads : {0u, 1u, 50u}) {
    ReaderPass pass(dataset, extents, options());
    pass.replace_engine(good_reads,
                        [] { throw Error::from_errno(ErrorKind::input, "read", EIO, "x", 1); });
    test::expect_error(ErrorKind::input, "(EIO)", [&] { pass.run(); });
  }
}

TEST_P(ReaderTest, SeesThatAFileShrank) {
  const TempDir directory;
  const auto path = directory.write("data", test::random_bytes(100'000, 1));
  std::vector<File> files;
  files.push_back(File::open(path));
  std::filesystem::resize_file(path, 50'000);
  const std::vector<Extent> extents{{0, 0, 100'000}};
  const SequentialPlan plan(extents, 200'000);
  ChunkPool pool(heap_memory(), 1, 200'000, 1);
  Reader reader(files, plan, pool, make_engine({.kind = kind()}), 8192, direct());
  test::expect_error(ErrorKind::input_changed, "from 100000 to 50000 bytes", [&] { reader.run(); });
}

TEST_P(ReaderTest, StopsWhenThePoolIsAborted) {
  const Dataset dataset(std::vector<std::size_t>{500'000});
  const auto extents = whole_files(dataset.files());
  const SequentialPlan plan(extents, 10'000);
  ChunkPool pool(heap_memory(), 2, 20'000, 1);
  Reader reader(dataset.files(), plan, pool, make_engine({.kind = kind()}), 4096, direct());
  const std::jthread aborter([&pool] {
    pool.wait(1, ChunkState::loaded);
    pool.abort();
  });
  EXPECT_THROW(reader.run(), Aborted);
}

// Lanes that load their own chunks call read_chunk() with their own memory.
TEST(Reader, ReadsAnyChunkIntoMemoryOfTheCallers) {
  const Dataset dataset(std::vector<std::size_t>{300'003, 700'000});
  const std::vector<Extent> extents = whole_files(dataset.files());
  const SequentialPlan plan(extents, 100'000);
  ChunkPool pool(heap_memory(), 2, 100'000, 1);
  Reader reader(dataset.files(), plan, pool,
                make_engine({.kind = EngineKind::threads, .depth = 1, .threads = 0}), 30'000,
                false);
  const Bytes expected = dataset.expected(extents);
  Bytes memory(100'000 + 2 * page_bytes);
  Chunk chunk{.memory = memory};
  for (const std::size_t k : {7u, 0u, 10u, 3u, 3u}) {
    chunk.index = k;
    reader.read_chunk(chunk, 1);
    Bytes received;
    for (const auto segment : chunk.segments) {
      received.insert(received.end(), segment.begin(), segment.end());
    }
    EXPECT_TRUE(
        test::same_bytes(received, std::span(expected).subspan(plan.chunk(k).first, plan.bytes(k))))
        << k;
  }
  EXPECT_EQ(reader.bytes_done(), 4 * 100'000 + 3);
}

TEST_P(ReaderTest, RefusesSlotsThatAreTooSmall) {
  const Dataset dataset(std::vector<std::size_t>{50'000});
  const auto extents = whole_files(dataset.files());
  const SequentialPlan plan(extents, 10'000);
  ChunkPool pool(heap_memory(), 2, 4096, 1);
  Reader reader(dataset.files(), plan, pool, make_engine({.kind = kind()}), 4096, direct());
  test::expect_error(ErrorKind::internal, "larger than its slot", [&] { reader.run(); });
}

INSTANTIATE_TEST_SUITE_P(All, ReaderTest, test::all_ways, test::way_name);

}  // namespace
}  // namespace ooc::detail
