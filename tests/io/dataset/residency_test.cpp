#include <gtest/gtest.h>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/residency.hpp>
#include <ooc/detail/dataset/source_access.hpp>

#include <sys/syscall.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "support/child_process.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

constexpr long cachestat = 451;
constexpr std::size_t file_bytes = 16 * MiB;

class Residency : public testing::Test {
 protected:
  test::TempDir directory_;
  std::filesystem::path path_ = directory_.write("data", test::random_bytes(file_bytes, 1));
};

TEST_F(Residency, TellsWarmFromCold) {
  const Source source = open_bytes(path_);
  {
    const test::HeldInPageCache held(path_);
    const auto warm = page_cache_fraction(source);
    if (!warm) GTEST_SKIP() << test::needs_page_cache;
    EXPECT_EQ(*warm, 1.0);
  }
  test::evict(path_);
  EXPECT_LT(page_cache_fraction(source).value(), 0.1);
}

TEST_F(Residency, CountsTheExtentsOnly) {
  std::vector<File> files;
  files.push_back(File::open(path_));
  const Source half =
      SourceAccess::of_files(std::move(files), {{0, 0, file_bytes / 2}}, {ElementType::u1, false});
  test::evict(path_);
  const test::HeldInPageCache held(path_, file_bytes / 2);
  test::evict(path_, file_bytes / 2);
  const auto fraction = page_cache_fraction(half);
  if (!fraction) GTEST_SKIP() << test::needs_page_cache;
  EXPECT_EQ(*fraction, 1.0);
  EXPECT_LT(page_cache_fraction(open_bytes(path_)).value(), 0.6);
}

TEST_F(Residency, CountsHoles) {
  EXPECT_EQ(hole_fraction(open_bytes(path_)), 0.0);
  std::filesystem::resize_file(path_, 4 * file_bytes);
  if (hole_fraction(open_bytes(path_)) == 0.0) GTEST_SKIP() << "no holes here";
  EXPECT_EQ(hole_fraction(open_bytes(path_)), 0.75);
  const auto all = directory_.write("all", "");
  EXPECT_EQ(hole_fraction(open_bytes(all)), 0.0) << "empty";
  std::filesystem::resize_file(all, GiB);
  EXPECT_EQ(hole_fraction(open_bytes(all)), 1.0);
  std::vector<File> files;
  files.push_back(File::open(path_));
  files.push_back(File::open(all));
  const Source parts = SourceAccess::of_files(
      std::move(files), {{0, 0, file_bytes}, {1, 5, file_bytes}}, {ElementType::u1, false});
  EXPECT_EQ(hole_fraction(parts), 0.5);
}

// Every second extent is a hole, and every sixth is looked at, or one of its group.
TEST_F(Residency, OfManyExtentsASampleIsMeasured) {
  const auto all = directory_.write("all", "");
  std::filesystem::resize_file(all, file_bytes);
  if (hole_fraction(open_bytes(all)) == 0.0) GTEST_SKIP() << "no holes here";
  std::vector<File> files;
  files.push_back(File::open(path_));
  files.push_back(File::open(all));
  std::vector<Extent> extents;
  for (std::uint32_t i = 0; i < 6 * 16384; ++i) extents.push_back({i % 2, 64 * (i / 2), 32});
  const Source source = SourceAccess::of_files(std::move(files), extents, {ElementType::u1, false});
  EXPECT_NEAR(hole_fraction(source), 0.5, 0.03);
}

TEST_F(Residency, TellsPiecesApart) {
  test::evict(path_);
  const Source source = open_bytes(path_);
  if (!page_cache_fraction(source)) GTEST_SKIP() << test::needs_page_cache;
  constexpr std::uint64_t piece_bytes = 3 * MiB;
  EXPECT_EQ(cached_pieces(cached_runs(source), piece_bytes), std::vector<bool>(6, false));
  {
    const test::HeldInPageCache held(path_);
    EXPECT_EQ(cached_pieces(cached_runs(source), piece_bytes), std::vector<bool>(6, true));
  }
  const test::HeldInPageCache held(path_, file_bytes / 2);
  test::evict(path_, file_bytes / 2);
  // The file's middle is two thirds into its third piece.
  EXPECT_EQ(cached_pieces(cached_runs(source), piece_bytes),
            (std::vector<bool>{true, true, true, false, false, false}));
}

TEST(CachedPieces, AreCountedAcrossRuns) {
  const auto pieces = [](std::vector<CachedRun> runs, std::uint64_t bytes) {
    return cached_pieces(runs, bytes);
  };
  using Pieces = std::vector<bool>;
  EXPECT_EQ(pieces({}, 10), Pieces{});
  EXPECT_EQ(pieces({{25, 1}}, 10), (Pieces{true, true, true}));
  EXPECT_EQ(pieces({{6, 1}, {4, 0}, {5, 0}, {5, 1}}, 10), (Pieces{true, false}));
  EXPECT_EQ(pieces({{20, 0.5}, {3, 0.6}}, 10), (Pieces{false, false, true}));
}

TEST_F(Residency, CountsPiecesThatRunAcrossFiles) {
  const auto cold = directory_.write("cold", test::random_bytes(file_bytes, 2));
  test::evict(cold);
  const test::HeldInPageCache held(path_);
  std::vector<File> files;
  files.push_back(File::open(path_));
  files.push_back(File::open(cold));
  const Source both = SourceAccess::of_files(std::move(files),
                                             {{0, 0, 10 * MiB}, {1, 0, 0}, {1, 1 * MiB, 10 * MiB}},
                                             {ElementType::u1, false});
  if (!page_cache_fraction(both)) GTEST_SKIP() << test::needs_page_cache;
  // The second piece has 2 MiB of the cached file and 6 MiB of the evicted one.
  EXPECT_EQ(cached_pieces(cached_runs(both), 8 * MiB), (std::vector<bool>{true, false, false}));
}

TEST_F(Residency, SamplesWhereTheKernelDoesNotCount) {
  test::expect_in_child([&] {
    test::refuse_system_call(cachestat, ENOSYS);
    const Source source = open_bytes(path_);
    double warm = 0;
    {
      const test::HeldInPageCache held(path_);
      warm = page_cache_fraction(source).value_or(-1);
    }
    test::evict(path_);
    const double cold = page_cache_fraction(source).value_or(-1);
    const double still_cold = page_cache_fraction(source).value_or(-1);
    return warm == 1 && cold >= 0 && cold < 0.3 && still_cold < 0.3;
  });
}

TEST(ResidencyOfMemory, IsWhole) {
  if (!std::filesystem::exists("/dev/shm")) GTEST_SKIP() << "no tmpfs";
  const test::TempDir directory("/dev/shm");
  const Source source = open_bytes(directory.write("data", test::random_bytes(10'000, 1)));
  EXPECT_EQ(page_cache_fraction(source), 1.0);
}

TEST(ResidencyOfNothing, IsUnknown) {
  const test::TempDir directory;
  EXPECT_EQ(page_cache_fraction(open_bytes(directory.write("empty", ""))), std::nullopt);
}

}  // namespace
}  // namespace ooc::detail
