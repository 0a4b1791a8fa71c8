// With direct I/O a Reader requests whole blocks, even if the data begin and end within blocks. The
// file system refuses other requests, and the engine would then read them through the page cache.

#include <gtest/gtest.h>

#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/transfer/reader.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
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

}  // namespace
}  // namespace ooc::detail
