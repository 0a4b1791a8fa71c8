#include <ooc/detail/file/file_lock.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <ooc/error.hpp>
#include <utility>

#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

class FileLockTest : public testing::Test {
 protected:
  void make(const std::filesystem::path& path) { std::ofstream(path) << "found"; }

  void expect_in_use() {
    try {
      const FileLock lock(path_);
      ADD_FAILURE() << "it was not locked";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(error.what(), path_.string() + ": another run is using it");
    }
  }

  test::TempDir directory_;
  std::filesystem::path path_ = directory_.path() / "state";
};

TEST_F(FileLockTest, IsHeldByOneAtATime) {
  make(path_);
  FileLock lock(path_);
  expect_in_use();
  FileLock moved = std::move(lock);
  expect_in_use();
  moved = FileLock();
  const FileLock next(path_);
}

TEST_F(FileLockTest, OfAFileThatIsNotThereLocksNothing) {
  const FileLock one(path_), other(path_);
}

TEST_F(FileLockTest, StaysWithAFileThatGetsAName) {
  const std::filesystem::path other = directory_.path() / "other";
  make(path_);
  make(other);
  FileLock old(path_);
  const int descriptor = ::open(other.c_str(), O_RDWR | O_CLOEXEC);
  const FileLock lock(descriptor);
  ::close(descriptor);
  std::filesystem::rename(other, path_);
  old = FileLock();
  expect_in_use();
}

}  // namespace
}  // namespace ooc::detail
