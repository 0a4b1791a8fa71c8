#include <ooc/detail/engine/engine.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "io/expect_error.hpp"
#include "io/pages.hpp"
#include "support/engines.hpp"
#include "support/redirect.hpp"
#include "support/temp_dir.hpp"

// Tests that apply to both reading and writing.

namespace ooc::detail {
namespace {

using test::Pages;

enum class Direction { read, write };

/// The file that requests use: a source of random bytes, or a target that begins as zeros.
class TransferFile {
 public:
  TransferFile(Direction direction, const test::TempDir& directory, const std::string& name,
               std::size_t bytes)
      : path_(directory.path() / name), content_(bytes) {
    if (direction == Direction::write) {
      target_.emplace(path_, bytes, false);
    } else {
      content_ = test::random_bytes(bytes, 3);
      source_.emplace(File::open(directory.write(name, content_)));
    }
  }

  const std::filesystem::path& path() const { return path_; }
  int buffered() const { return source_ ? source_->buffered() : target_->buffered(); }
  bool is_direct() const { return (source_ ? source_->direct() : target_->direct()) >= 0; }
  std::string why_not_direct() const {
    return source_ ? source_->why_not_direct() : target_->why_not_direct();
  }

  /// Returns the contents of the file. Commits it first if it is a target.
  const std::vector<std::byte>& content() {
    if (target_) {
      target_->commit();
      const std::string text = test::read_whole(path_);
      content_.assign(test::bytes_of(text).begin(), test::bytes_of(text).end());
    }
    return content_;
  }

  Request request(std::byte* memory, std::uint64_t offset, std::size_t bytes, bool direct = false) {
    return {.source = source_ ? &*source_ : nullptr,
            .target = target_ ? &*target_ : nullptr,
            .direct = direct,
            .memory = memory,
            .offset = offset,
            .bytes = bytes,
            .needed = bytes};
  }

 private:
  std::filesystem::path path_;
  std::vector<std::byte> content_;
  std::optional<File> source_;
  std::optional<OutputFile> target_;
};

class EngineTest : public testing::TestWithParam<std::tuple<EngineKind, Direction>> {
 protected:
  void SetUp() override {
    if (kind() == EngineKind::uring && !test::uring_is_available()) GTEST_SKIP() << "no io_uring";
  }

  static EngineKind kind() { return std::get<EngineKind>(GetParam()); }
  static Direction direction() { return std::get<Direction>(GetParam()); }
  static bool writes() { return direction() == Direction::write; }

  static std::unique_ptr<Engine> make(EngineOptions options = {}) {
    options.kind = kind();
    options.threads = 3;
    options.writes = writes();
    return make_engine(options);
  }

  TransferFile file(const std::string& name, std::size_t bytes) const {
    return {direction(), directory_, name, bytes};
  }

  /// Fills memory with random bytes before a write, and with 0xAA before a read.
  static void prepare(std::span<std::byte> memory, unsigned seed = 4) {
    if (writes()) {
      std::ranges::copy(test::random_bytes(memory.size(), seed), memory.begin());
    } else {
      std::ranges::fill(memory, std::byte{0xAA});
    }
  }

  test::TempDir directory_;
  TransferFile file_ = file("data", 100'000);
};

TEST_P(EngineTest, TransfersAtAnyOffset) {
  struct PartialResult {
    std::size_t offset, bytes;
  };
  constexpr std::size_t shift = 3;
  Pages pages(102'400);
  std::vector<std::byte> expected(100'000);
  const auto engine = make();
  unsigned seed = 0;
  for (const PartialResult part :
       {PartialResult{49'998, 50'001}, PartialResult{0, 5}, PartialResult{0, 4096},
        PartialResult{0, 1}, PartialResult{0, 50'000}, PartialResult{49'999, 50'001},
        PartialResult{0, 5001}, PartialResult{1, 5001}, PartialResult{4095, 5001},
        PartialResult{4096, 5001}, PartialResult{99'999, 1}}) {
    prepare(pages.span(), ++seed);
    const std::span<std::byte> memory = pages.span().subspan(shift, part.bytes);
    const std::byte before = pages.span()[shift - 1], after = pages.span()[shift + part.bytes];
    Request request = file_.request(memory.data(), part.offset, part.bytes);
    engine->start(request);
    EXPECT_EQ(engine->in_flight(), 1u);
    EXPECT_EQ(&engine->wait(), &request);
    EXPECT_EQ(engine->in_flight(), 0u);
    EXPECT_EQ(request.done, part.bytes);
    EXPECT_EQ(pages.span()[shift - 1], before);
    EXPECT_EQ(pages.span()[shift + part.bytes], after);
    if (writes()) {
      std::ranges::copy(memory, expected.begin() + static_cast<std::ptrdiff_t>(part.offset));
    } else {
      EXPECT_TRUE(
          test::same_bytes(memory, std::span(file_.content()).subspan(part.offset, part.bytes)));
    }
  }
  if (writes()) {
    EXPECT_TRUE(test::same_bytes(file_.content(), expected));
  }
}

TEST_P(EngineTest, KeepsManyRequestsInFlight) {
  constexpr std::size_t block = 4096, blocks = 24;
  for (const bool registered : {false, true}) {
    TransferFile file = this->file(registered ? "a" : "b", block * blocks);
    Pages pages(block * blocks);
    prepare(pages.span());
    const auto engine = make({.depth = 5,
                              .storage = registered ? pages.span() : std::span<std::byte>{},
                              .storage_piece = 2 * block});
    auto requests =
        test::consecutive_requests(file.request(pages.data(), 0, block, file.is_direct()), blocks);
    test::transfer_all(*engine, requests);
    EXPECT_EQ(engine->note() + engine->remark(), "");
    EXPECT_TRUE(test::same_bytes(pages.span(), file.content()));
  }
}

TEST_P(EngineTest, GoesThroughThePageCacheWhereItIsRefusedDirectly) {
  if (!file_.is_direct()) GTEST_SKIP() << file_.why_not_direct();
  constexpr std::size_t offset = 3, bytes = 9001;
  Pages pages(16384);
  prepare(pages.span());
  const auto engine = make();
  const std::span<std::byte> memory = pages.span().subspan(1, bytes);  // unaligned
  Request request = file_.request(memory.data(), offset, bytes, true);
  engine->start(request);
  engine->wait();
  EXPECT_FALSE(request.direct);
  EXPECT_EQ(engine->remark(), "1 direct request was refused and went through the page cache");
  const std::span content = file_.content();
  EXPECT_TRUE(test::same_bytes(memory, content.subspan(offset, bytes)));
  if (writes()) {
    EXPECT_TRUE(test::same_bytes(content.first(offset), std::vector<std::byte>(offset)));
    EXPECT_EQ(content[offset + bytes], std::byte{0});
  }
}

TEST_P(EngineTest, NamesTheByteAtWhichTheDiskFailed) {
  Pages pages(4096);
  // Writes fail because the disk is full (ENOSPC), reads because the memory is not mapped (EIO).
  test::redirect(file_.buffered(), writes() ? "/dev/full" : "/proc/self/mem",
                 writes() ? O_WRONLY : O_RDONLY);
  Request request = file_.request(pages.data(), 64, 100);
  const auto engine = make();
  engine->start(request);
  test::expect_error(writes() ? ErrorKind::output : ErrorKind::input,
                     file_.path().string() +
                         (writes() ? ": write failed at byte 64: No space left on device (ENOSPC)"
                                   : ": read failed at byte 64: Input/output error (EIO)"),
                     [&] { engine->wait(); });
  EXPECT_EQ(engine->in_flight(), 0u);
}

TEST_P(EngineTest, GoesOnAfterAnError) {
  Pages pages(8192);
  prepare(pages.span());
  TransferFile broken = file("broken", 100);
  test::redirect(broken.buffered(), writes() ? "/dev/full" : "/", writes() ? O_WRONLY : O_RDONLY);
  Request bad = broken.request(pages.data(), 0, 100);
  Request good = file_.request(pages.data() + 4096, 0, 100);
  test::expect_only_one_fails(*make(), bad, good, writes() ? ENOSPC : EISDIR);
  const std::span content = file_.content();
  EXPECT_TRUE(test::same_bytes(pages.span().subspan(4096, 100), content.first(100)));
  if (writes()) {
    EXPECT_EQ(content[100], std::byte{0});
  }
}

// Memory may belong to another object once the engine is destroyed. A read that is still in flight
// would overwrite that object, and a write would put the object's bytes into the file.
TEST_P(EngineTest, LeavesTheMemoryAloneOnceItIsGone) {
  TransferFile large = file("large", 8 * MiB);
  Pages pages(8 * MiB);  // filled with 0xAA
  auto requests =
      test::consecutive_requests(large.request(pages.data(), 0, MiB, large.is_direct()), 8);
  test::abandon(make({.depth = 8}), requests);
  constexpr std::byte mark{0x55};
  std::ranges::fill(pages.span(), mark);
  ::usleep(20'000);
  if (writes()) {
    EXPECT_EQ(std::ranges::count(large.content(), mark), 0);
  } else {
    EXPECT_TRUE(std::ranges::all_of(pages.span(), [](std::byte b) { return b == mark; }));
  }
}

TEST_P(EngineTest, CanBeDroppedBeforeItIsWaitedFor) {
  Pages pages(4096);
  Request request = file_.request(pages.data(), 0, 4096);
  make()->start(request);
}

std::string way_name(const testing::TestParamInfo<std::tuple<EngineKind, Direction>>& way) {
  const auto [kind, direction] = way.param;
  return std::string(kind == EngineKind::uring ? "uring" : "threads") +
         (direction == Direction::read ? "_read" : "_write");
}

INSTANTIATE_TEST_SUITE_P(Kinds, EngineTest,
                         testing::Combine(test::all_engines,
                                          testing::Values(Direction::read, Direction::write)),
                         way_name);

}  // namespace
}  // namespace ooc::detail
