#include <gtest/gtest.h>

#include <ooc/io/residency.hpp>
#include <ooc/io/units.hpp>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "child_process.hpp"
#include "support/temp_dir.hpp"

namespace ooc {
namespace {

constexpr long cachestat = 451;
constexpr std::size_t file_bytes = 16 * MiB;

/// Puts the pages of a file out of the cache; they must have been written to the disk for that.
void evict(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY);
  ::fsync(descriptor);
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  ::close(descriptor);
}

class Residency : public testing::Test {
 protected:
  test::TempDir directory_;
  std::filesystem::path path_ = directory_.write("data", test::random_bytes(file_bytes, 1));
};

TEST_F(Residency, TellsWarmFromCold) {
  const Source source{File::open(path_)};
  const auto warm = page_cache_fraction(source);
  if (!warm) GTEST_SKIP() << "the kernel does not tell";
  EXPECT_EQ(*warm, 1.0);
  evict(path_);
  EXPECT_LT(page_cache_fraction(source).value(), 0.1);
}

TEST_F(Residency, CountsTheExtentsOnly) {
  std::vector<File> files;
  files.push_back(File::open(path_));
  const Source half(std::move(files), {{0, 0, file_bytes / 2}}, {ElementType::u1, false});
  evict(path_);
  test::read_whole(path_);
  const int descriptor = ::open(path_.c_str(), O_RDONLY);
  ::posix_fadvise(descriptor, file_bytes / 2, 0, POSIX_FADV_DONTNEED);
  ::close(descriptor);
  const auto fraction = page_cache_fraction(half);
  if (!fraction) GTEST_SKIP() << "the kernel does not tell";
  EXPECT_GT(*fraction, 0.9);
  EXPECT_LT(page_cache_fraction(Source{File::open(path_)}).value(), 0.6);
}

TEST_F(Residency, SamplesWhereTheKernelDoesNotCount) {
  test::expect_in_child([&] {
    test::refuse_system_call(cachestat, ENOSYS);
    const Source source{File::open(path_)};
    const double warm = page_cache_fraction(source).value_or(-1);
    evict(path_);
    const double cold = page_cache_fraction(source).value_or(-1);
    const double still_cold = page_cache_fraction(source).value_or(-1);
    return warm == 1 && cold >= 0 && cold < 0.3 && still_cold < 0.3;
  });
}

TEST(ResidencyOfMemory, IsWhole) {
  if (!std::filesystem::exists("/dev/shm")) GTEST_SKIP() << "no tmpfs";
  const test::TempDir directory("/dev/shm");
  const Source source{File::open(directory.write("data", test::random_bytes(10'000, 1)))};
  EXPECT_EQ(page_cache_fraction(source), 1.0);
}

TEST(ResidencyOfNothing, IsUnknown) {
  const test::TempDir directory;
  EXPECT_EQ(page_cache_fraction(Source{File::open(directory.write("empty", ""))}), std::nullopt);
}

}  // namespace
}  // namespace ooc
