// Tests output files whose length shows while they are written.

#include <gtest/gtest.h>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::bytes_of;

std::uint64_t allocated_bytes(const OutputFile& file) {
  struct stat status {};
  EXPECT_EQ(::fstat(file.buffered(), &status), 0);
  constexpr std::uint64_t unit = 512;
  return static_cast<std::uint64_t>(status.st_blocks) * unit;
}

/// A directory on a disk or in memory.
class AppendedFileTest : public testing::TestWithParam<const char*> {
 protected:
  test::TempDir directory_{GetParam()};
  std::filesystem::path path_ = directory_.path() / "result";
};

INSTANTIATE_TEST_SUITE_P(Places, AppendedFileTest, testing::Values(".", "/dev/shm"),
                         [](const auto& place) {
                           return place.param[0] == '.' ? "disk" : "memory";
                         });

TEST_P(AppendedFileTest, TakesSpaceWhenItGrows) {
  constexpr std::uint64_t most = 3 * GiB / 2;
  OutputFile file(path_, most, false, Purpose::append);
  EXPECT_LT(allocated_bytes(file), 1 * MiB);
  file.grow(10);
  const std::uint64_t first = allocated_bytes(file);
  EXPECT_GE(first, 10u);
  EXPECT_LE(first, 2 * MiB);
  file.grow(5);
  EXPECT_EQ(allocated_bytes(file), first);
  file.write(0, bytes_of("0123456789"));
  file.write(5, bytes_of("five"));
  file.trim(9);
  EXPECT_LT(allocated_bytes(file), 1 * MiB);
  file.commit();
  EXPECT_EQ(test::read_whole(path_), "01234five");
}

TEST_P(AppendedFileTest, MayBeEmpty) {
  OutputFile file(path_, 1 * GiB, false, Purpose::append);
  file.trim(0);
  file.commit();
  EXPECT_EQ(test::read_whole(path_), "");
}

TEST_P(AppendedFileTest, HoldsAsMuchAsItMay) {
  const std::vector<std::byte> bytes = test::random_bytes(3 * MiB + 5, 1);
  OutputFile file(path_, bytes.size(), false, Purpose::append);
  constexpr std::size_t step = 70'001;
  for (std::size_t done = 0; done < bytes.size(); done += step) {
    const auto piece = std::span(bytes).subspan(done, std::min(step, bytes.size() - done));
    file.grow(done + piece.size());
    file.write(done, piece);
  }
  file.trim(bytes.size());
  file.make_durable();
  EXPECT_TRUE(directory_.names().empty());
  file.commit();
  const std::string written = test::read_whole(path_);
  EXPECT_TRUE(test::same_bytes(bytes_of(written), bytes));
}

// A limit on the size of files that what is kept does not reach is no obstacle.
TEST_P(AppendedFileTest, NeedsNoMoreThanItHolds) {
  test::expect_in_child([&] {
    const rlimit limit{1 * MiB, 1 * MiB};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    OutputFile file(path_, 8 * GiB, false, Purpose::append);
    file.grow(100);
    file.write(0, std::vector<std::byte>(100));
    file.trim(100);
    file.commit();
    return std::filesystem::file_size(path_) == 100;
  });
}

TEST_P(AppendedFileTest, SaysThatThereIsNoSpace) {
  test::expect_in_child([&] {
    const rlimit limit{1 * MiB, 1 * MiB};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    OutputFile file(path_, 8 * GiB, false, Purpose::append);
    try {
      file.grow(2 * MiB);
      file.write(2 * MiB - 1, std::vector<std::byte>(1));
    } catch (const Error& error) {
      return error.kind() == ErrorKind::output && error.details().errno_value == EFBIG &&
             directory_.names().empty();
    }
    return false;
  });
}

}  // namespace
}  // namespace ooc::detail
