// With direct I/O a Reader requests whole blocks, even if the data begin and end within blocks. The
// file system refuses other requests, and the engine would then read them through the page cache.

#include <gtest/gtest.h>

#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/transfer/reader.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/engines.hpp"
#include "support/temp_dir.hpp"
#include "support/wrapped_engine.hpp"

namespace ooc::detail {
namespace {

struct Requests {
  std::size_t all = 0, direct = 0;
  std::size_t whole_blocks = 0;  // among the direct requests
};

class CountingEngine final : public test::WrappedEngine {
 public:
  CountingEngine(std::unique_ptr<Engine> engine, Requests& requests)
      : WrappedEngine(std::move(engine)), requests_(requests) {}

  void start(Request& request) override {
    const auto place = reinterpret_cast<std::uintptr_t>(request.memory);
    const bool whole = (request.offset | request.bytes | place) % File::alignment() == 0;
    ++requests_.all;
    requests_.direct += request.direct;
    requests_.whole_blocks += request.direct && whole;
    WrappedEngine::start(request);
  }

 private:
  Requests& requests_;
};

class ReaderBlocksTest : public test::EachWay {};
INSTANTIATE_TEST_SUITE_P(All, ReaderBlocksTest, test::all_ways, test::way_name);

TEST_P(ReaderBlocksTest, ReadsWholeBlocksDirectly) {
  const test::TempDir directory;
  std::vector<File> files;
  files.push_back(File::open(directory.write("data", test::random_bytes(100'001, 1))));
  const std::vector<Extent> extents{{0, 17, 50'000}, {0, 60'017, 39'984}};
  const SequentialPlan plan(extents, 100'000);
  ChunkPool pool(heap_memory(), 1, 100'000 + Reader::slack_bytes(2, direct()), 2);
  Requests requests;
  auto engine = std::make_unique<CountingEngine>(make_engine({.kind = kind()}), requests);
  Reader(files, plan, pool, std::move(engine), 8192, direct()).run();
  EXPECT_GT(requests.all, 0u);
  EXPECT_EQ(requests.direct, direct() && files[0].direct() >= 0 ? requests.all : 0);
  EXPECT_EQ(requests.whole_blocks, requests.direct);
}

/// Files whose bytes are known, and a read of pieces of them as one chunk.
class ReaderRunsTest : public ReaderBlocksTest {
 protected:
  /// Expects the chunk to have the pieces in their order. Returns the requests that it took.
  Requests read(const std::vector<Extent>& extents, std::size_t runs) {
    const SequentialPlan plan(extents, 100'000);
    EXPECT_EQ(plan.max_runs(), runs);
    ChunkPool pool(heap_memory(), 1, plan.bytes() + Reader::slack_bytes(runs, direct()),
                   extents.size());
    Requests requests;
    auto engine = std::make_unique<CountingEngine>(make_engine({.kind = kind()}), requests);
    Reader reader(files_, plan, pool, std::move(engine), 64 * 1024, direct());
    reader.run();
    EXPECT_EQ(reader.bytes_done(), plan.bytes());
    const Chunk* const chunk = pool.wait(0, ChunkState::loaded);
    EXPECT_EQ(chunk->segments.size(), extents.size());
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const auto& [file, offset, bytes, cached, input] = extents[i];
      EXPECT_TRUE(
          std::ranges::equal(chunk->segments[i], std::span(contents_[file]).subspan(offset, bytes)))
          << i;
    }
    return requests;
  }

  const std::vector<std::vector<std::byte>> contents_{test::random_bytes(50'000, 1),
                                                      test::random_bytes(50'000, 2)};

 private:
  std::vector<File> open_all() {
    std::vector<File> files;
    for (std::size_t i = 0; i < contents_.size(); ++i) {
      files.push_back(File::open(directory_.write(std::to_string(i), contents_[i])));
    }
    return files;
  }

  test::TempDir directory_;
  std::vector<File> files_ = open_all();
};
INSTANTIATE_TEST_SUITE_P(All, ReaderRunsTest, test::all_ways, test::way_name);

TEST_P(ReaderRunsTest, NeighboursAreReadAtOnceInWhateverOrder) {
  std::vector<Extent> extents;
  for (std::uint64_t i = 40; i-- > 0;) extents.push_back({0, 17 + i * 1000, 1000});
  EXPECT_EQ(read(extents, 1).all, 1u);
}

TEST_P(ReaderRunsTest, PiecesOfTwoFilesAreNotNeighbours) {
  EXPECT_EQ(read({{0, 0, 4096}, {1, 4096, 904}}, 2).all, 2u);
}

TEST_P(ReaderRunsTest, PiecesMayBeginAtOnePlace) {
  read({{0, 0, 10}, {0, 0, 20}, {0, 10, 5}, {0, 20, 5}}, 4);
  read({{0, 20, 5}, {0, 0, 20}, {0, 10, 5}, {0, 0, 10}}, 4);
}

}  // namespace
}  // namespace ooc::detail
