#include <gtest/gtest.h>

#include <ooc/detail/engine/engine.hpp>
#include <ooc/detail/file/file.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "io/expect_error.hpp"
#include "io/pages.hpp"
#include "support/engines.hpp"
#include "support/temp_dir.hpp"

// Tests that apply to reading only: the ends of files, and registered memory at any offset.

namespace ooc::detail {
namespace {

using test::expect_error;
using test::Pages;
using test::TempDir;

class EngineReadTest : public test::EachEngine {
 protected:
  TempDir directory_;
  std::vector<std::byte> bytes_ = test::random_bytes(100'000, 3);
  std::filesystem::path path_ = directory_.write("data", bytes_);
  File file_ = File::open(path_);
};

TEST_P(EngineReadTest, ReadsAcrossRegisteredPieces) {
  Pages pages(16384);
  const auto engine = make({.storage = pages.span().first(12288), .storage_piece = 4096});
  for (const std::size_t place : {4000u, 12000u, 16000u}) {  // across pieces, at the end, beyond
    Request request{.source = &file_, .memory = pages.data() + place, .bytes = 300, .needed = 300};
    engine->start(request);
    engine->wait();
    EXPECT_TRUE(std::equal(pages.data() + place, pages.data() + place + 300, bytes_.data()));
  }
}

TEST_P(EngineReadTest, TailMayEndInsideABlock) {
  if (file_.direct() < 0) GTEST_SKIP() << file_.why_not_direct();
  Pages pages(8192);
  const std::size_t tail = bytes_.size() % 4096;
  Request request{.source = &file_,
                  .direct = true,
                  .memory = pages.data(),
                  .offset = bytes_.size() - tail,
                  .bytes = 8192,
                  .needed = tail};
  const auto engine = make();
  engine->start(request);
  EXPECT_EQ(&engine->wait(), &request);
  EXPECT_EQ(request.done, tail);
  EXPECT_TRUE(std::equal(pages.data(), pages.data() + tail, bytes_.end() - std::ptrdiff_t(tail)));
}

TEST_P(EngineReadTest, SeesThatAFileShrank) {
  std::filesystem::resize_file(path_, 10'000);
  Pages pages(16384);
  for (const bool direct : {false, true}) {
    if (direct && file_.direct() < 0) continue;
    Request request{.source = &file_,
                    .direct = direct,
                    .memory = pages.data(),
                    .offset = 4096,
                    .bytes = 16384,
                    .needed = 16384};
    const auto engine = make();
    engine->start(request);
    expect_error(ErrorKind::input_changed,
                 path_.string() + ": shrank while it was read, from 100000 to 10000 bytes",
                 [&] { engine->wait(); });
    EXPECT_EQ(engine->in_flight(), 0u);
    EXPECT_EQ(request.done, 10'000u - 4096);
    EXPECT_EQ(engine->note() + engine->remark(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EngineReadTest, test::all_engines, test::engine_name);

}  // namespace
}  // namespace ooc::detail
