// Tests of an output file when the disk, the kernel or the process fails.

#include <gtest/gtest.h>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "support/child_process.hpp"
#include "support/effort.hpp"
#include "support/temp_dir.hpp"
#include "support/watched_calls.hpp"

namespace ooc::detail {
namespace {

using test::bytes_of;
using test::expect_in_child;
using test::TempDir;
using Names = std::vector<std::string>;

constexpr std::uint32_t nameless = O_TMPFILE & ~O_DIRECTORY;

/// True if `body` throws an Error of kind `output` with this errno.
bool fails_with(int errno_value, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::output && error.details().errno_value == errno_value;
  }
  return false;
}

/// A directory on a disk or in memory, with a file "result" that contains "old".
class OutputFileFaultTest : public testing::TestWithParam<const char*> {
 protected:
  OutputFile replacement(std::uint64_t bytes) { return OutputFile(path_, bytes, true); }

  void expect_old_file_alone() const {
    EXPECT_EQ(test::read_whole(path_), "old");
    EXPECT_EQ(directory_.names(), Names{"result"});
  }

  TempDir directory_{GetParam()};
  std::filesystem::path path_ = directory_.write("result", "old");
};

INSTANTIATE_TEST_SUITE_P(Places, OutputFileFaultTest, testing::Values(".", "/dev/shm"),
                         [](const auto& place) {
                           return place.param == std::string_view{"."} ? "disk" : "memory";
                         });

TEST_P(OutputFileFaultTest, MoreThanTheFileSystemHasFailsAtOnce) {
  const auto free = std::filesystem::space(directory_.path()).available;
  ASSERT_LT(free, std::uint64_t{1} << 60) << "without a limit";
  EXPECT_TRUE(fails_with(ENOSPC, [&] { replacement(free + GiB); }));
  expect_old_file_alone();
}

TEST_P(OutputFileFaultTest, MoreThanTheUsersLimitFailsAtOnce) {
  expect_in_child([&] {
    std::signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{MiB, MiB};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return fails_with(EFBIG, [&] { replacement(2 * MiB); });
  });
  expect_old_file_alone();
}

// On tmpfs a background thread allocates the space, so the failure is reported later.
TEST_P(OutputFileFaultTest, SpaceThatIsNotFoundIsAnErrorBeforeTheOldFileIsTouched) {
  expect_in_child([&] {
    test::refuse_system_call(SYS_fallocate, ENOSPC);
    return fails_with(ENOSPC, [&] {
      OutputFile file = replacement(MiB);
      file.commit();
    });
  });
  expect_old_file_alone();
}

TEST_P(OutputFileFaultTest, NeedsNoFileSystemThatAllocates) {
  expect_in_child([&] {
    test::refuse_system_call(SYS_fallocate, EOPNOTSUPP);
    OutputFile file = replacement(3);
    file.write(0, bytes_of("new"));
    file.commit();
    return true;
  });
  EXPECT_EQ(test::read_whole(path_), "new");
}

TEST_P(OutputFileFaultTest, IsNotPublishedIfItCouldNotBeSynchronised) {
  for (const int errno_value : {EIO, ENOSPC, EDQUOT}) {
    expect_in_child([&] {
      OutputFile file = replacement(3);
      file.write(0, bytes_of("new"));
      test::refuse_system_call(SYS_fsync, errno_value);
      return fails_with(errno_value, [&] { file.commit(); });
    });
    expect_old_file_alone();
  }
}

TEST_P(OutputFileFaultTest, IsNotPublishedIfItCouldNotBeMoved) {
  expect_in_child([&] {
    OutputFile file = replacement(3);
    test::refuse_system_call(SYS_rename, EROFS);
    return fails_with(EROFS, [&] { file.commit(); });
  });
  EXPECT_EQ(test::read_whole(path_), "old");
  const Names names = directory_.names();  // the whole file stays
  ASSERT_EQ(names.size(), 2u);
  EXPECT_TRUE(names[0].starts_with(".result.") && names[0].ends_with(".ooc-part")) << names[0];
}

// Otherwise a power failure could undo the rename, or keep the name and lose the data.
TEST_P(OutputFileFaultTest, IsSynchronisedBeforeItIsMovedAndItsDirectoryAfterwards) {
  expect_in_child([&] {
    const Names expected{"file, old", "directory, new"};
    std::atomic<std::size_t> calls = 0, right = 0;
    test::watch_system_call(SYS_fsync, [&](const auto* arguments) {
      const bool of_directory = std::filesystem::equivalent(
          directory_.path(), "/proc/self/fd/" + std::to_string(arguments[0]));
      const std::string call = (of_directory ? "directory, " : "file, ") + test::read_whole(path_);
      const std::size_t index = calls++;
      right += index < expected.size() && expected[index] == call;
      return 0;
    });
    OutputFile file = replacement(3);
    file.write(0, bytes_of("new"));
    file.commit();
    return calls == expected.size() && right == expected.size();
  });
}

// Other users could open a named temporary and keep it open.
TEST_P(OutputFileFaultTest, IsNeverOpenToOthersIfTheOldFileIsNot) {
  std::filesystem::permissions(
      path_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  expect_in_child([&] {
    ::umask(0);
    std::atomic<std::size_t> seen = 0, open_to_others = 0;
    test::refuse_system_call(SYS_openat, EOPNOTSUPP, 2, nameless);
    // A temporary is locked right after it is created, before it gets the old file's mode: first
    // that of the trial, then the output.
    test::watch_system_call(SYS_flock, [&](const auto* arguments) {
      struct stat status {};
      ::fstat(static_cast<int>(arguments[0]), &status);
      ++seen;
      open_to_others += (status.st_mode & 0077) != 0;
      return 0;
    });
    const OutputFile file = replacement(3);
    return seen == 2 && open_to_others == 0;
  });
}

// Another run may mistake the temporary for one that a killed run left behind.
TEST_P(OutputFileFaultTest, IsMadeAgainIfItIsRemovedBeforeItIsLocked) {
  expect_in_child([&] {
    std::atomic<std::size_t> removed = 0;
    test::refuse_system_call(SYS_openat, EOPNOTSUPP, 2, nameless);
    test::watch_system_call(SYS_flock, [&](const auto*) {
      const std::string name = directory_.names().front();
      if (removed == 0 && name.ends_with(".ooc-tmp")) {
        removed += std::filesystem::remove(directory_.path() / name);
      }
      return 0;
    });
    OutputFile file = replacement(3);
    file.write(0, bytes_of("new"));
    file.commit();
    return removed == 1;
  });
  EXPECT_EQ(test::read_whole(path_), "new");
  EXPECT_EQ(directory_.names(), Names{"result"});
}

TEST(OutputFileOnDisk, WritesAgainAfterASignal) {
  const TempDir directory;
  const auto path = directory.path() / "result";
  expect_in_child([&] {
    OutputFile file(path, 3, false);
    std::atomic<int> interruptions = 3;
    test::watch_system_call(SYS_pwrite64,
                            [&](const auto*) { return interruptions-- > 0 ? EINTR : 0; });
    file.write(0, bytes_of("new"));
    file.commit();
    return interruptions < 0;
  });
  EXPECT_EQ(test::read_whole(path), "new");
}

/// Size of the output that a process writes until it is killed, and of the pieces that it writes.
constexpr std::size_t whole_bytes = 8 * MiB;
constexpr std::size_t piece_bytes = 64 * KiB;

/// Writes pieces, and kills the process with SIGKILL before it writes the piece at `killed_at`.
/// Does not kill it if `killed_at` is greater than `whole_bytes`.
bool write_until_killed(OutputFile& file, std::size_t killed_at) {
  const std::vector<std::byte> piece(piece_bytes, std::byte{'n'});
  for (std::size_t offset = 0; offset < whole_bytes; offset += piece_bytes) {
    if (offset == killed_at) std::raise(SIGKILL);
    file.write(offset, piece);
  }
  if (killed_at == whole_bytes) std::raise(SIGKILL);
  return true;
}

TEST_P(OutputFileFaultTest, LeavesNothingWhenItIsKilled) {
  for (const std::size_t killed_at : {std::size_t{0}, whole_bytes / 2, whole_bytes}) {
    test::expect_killed_child([&] {
      OutputFile file = replacement(whole_bytes);
      write_until_killed(file, killed_at);
    });
    expect_old_file_alone();
  }
}

TEST_P(OutputFileFaultTest, ItsNamedTemporaryIsRemovedByTheNextRun) {
  test::expect_killed_child([&] {
    test::refuse_system_call(SYS_openat, EOPNOTSUPP, 2, nameless);
    OutputFile file = replacement(whole_bytes);
    write_until_killed(file, whole_bytes / 2);
  });
  EXPECT_EQ(test::read_whole(path_), "old");
  const Names names = directory_.names();
  ASSERT_EQ(names.size(), 2u);
  EXPECT_TRUE(names.front().starts_with(".result.") && names.front().ends_with(".ooc-tmp"))
      << names.front();
  { OutputFile next = replacement(3); }
  expect_old_file_alone();
}

// The kill may come at any time, even while the file is being committed.
TEST_P(OutputFileFaultTest, IsOldOrNewButNeverTorn) {
  const std::string whole(whole_bytes, 'n');
  constexpr unsigned rounds = test::effort(30, 6);
  for (unsigned round = 0; round < rounds; ++round) {
    directory_.write("result", "old");
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        for (;;) {
          OutputFile file = replacement(whole_bytes);
          write_until_killed(file, whole_bytes + 1);
          file.commit();
        }
      } catch (const std::exception&) {
        std::_Exit(1);
      }
    }
    ::usleep(round * 60'000 / rounds);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    const std::string found = test::read_whole(path_);
    EXPECT_TRUE(found == "old" || found == whole) << found.size() << " bytes";
  }
  { OutputFile next = replacement(3); }
  EXPECT_EQ(directory_.names(), Names{"result"});
}

TEST(OutputFileOnTmpfs, PagesThatAreNotThereAreAnErrorAndNoSignal) {
  const TempDir directory("/dev/shm");
  OutputFile file(directory.path() / "result", 4 * page_bytes, false);
  file.write(3 * page_bytes, bytes_of("x"));  // everything is allocated after this
  ASSERT_EQ(::ftruncate(file.buffered(), page_bytes), 0);
  file.write(0, bytes_of("x"));
  EXPECT_TRUE(fails_with(ENOSPC, [&] { file.write(2 * page_bytes, bytes_of("x")); }));
}

TEST(OutputFileOnTmpfs, NeedsNoThreadToAllocate) {
  const TempDir directory("/dev/shm");
  const auto path = directory.path() / "result";
  expect_in_child([&] {
    test::refuse_system_call(SYS_clone3, EAGAIN);
    test::refuse_system_call(SYS_clone, EAGAIN);
    OutputFile file(path, 3, false);
    file.write(0, bytes_of("new"));
    file.commit();
    return true;
  });
  EXPECT_EQ(test::read_whole(path), "new");
}

TEST(OutputFileOnTmpfs, NeedsNoKernelThatPopulates) {
  const TempDir directory("/dev/shm");
  const auto path = directory.path() / "result";
  expect_in_child([&] {
    test::refuse_system_call(SYS_madvise, EINVAL);
    OutputFile file(path, 10'000, false);
    file.write(5000, bytes_of("new"));
    file.commit();
    return true;
  });
  EXPECT_EQ(test::read_whole(path), std::string(5000, '\0') + "new" + std::string(4997, '\0'));
}

}  // namespace
}  // namespace ooc::detail
