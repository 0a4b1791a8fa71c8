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

// Pieces of 1,000 bytes from 17 on, from the last to the first: one request reads them all.
TEST_P(ReaderBlocksTest, ReadsNeighboursAtOnceInWhateverOrder) {
  const test::TempDir directory;
  const std::vector<std::byte> contents = test::random_bytes(50'000, 1);
  std::vector<File> files;
  files.push_back(File::open(directory.write("data", contents)));
  std::vector<Extent> extents;
  for (std::uint64_t i = 40; i-- > 0;) extents.push_back({0, 17 + i * 1000, 1000});
  const SequentialPlan plan(extents, 40'000);
  EXPECT_EQ(plan.max_runs(), 1u);
  ChunkPool pool(heap_memory(), 1, 40'000 + Reader::slack_bytes(1, direct()), 40);
  Requests requests;
  auto engine = std::make_unique<CountingEngine>(make_engine({.kind = kind()}), requests);
  Reader reader(files, plan, pool, std::move(engine), 64 * 1024, direct());
  reader.run();
  EXPECT_EQ(requests.all, 1u);
  EXPECT_EQ(reader.bytes_done(), 40'000u);
  const Chunk* const chunk = pool.wait(0, ChunkState::loaded);
  ASSERT_EQ(chunk->segments.size(), extents.size());
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const auto begin = contents.begin() + static_cast<std::ptrdiff_t>(extents[i].offset);
    EXPECT_TRUE(std::ranges::equal(chunk->segments[i], std::span(begin, extents[i].bytes))) << i;
  }
}

}  // namespace
}  // namespace ooc::detail
