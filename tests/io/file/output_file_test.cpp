#include <gtest/gtest.h>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>

#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "io/expect_error.hpp"
#include "support/child_process.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::bytes_of;
using test::expect_error;
using test::TempDir;
using Names = std::vector<std::string>;

void write_file(const std::filesystem::path& path, std::string_view text, bool replace = false) {
  OutputFile file(path, text.size(), replace);
  file.write(0, bytes_of(text));
  file.commit();
}

TEST(OutputFile, AppearsWhenItIsPublished) {
  const TempDir directory;
  const auto path = directory.path() / "result.npy";
  {
    OutputFile file(path, 10, false);
    file.write(5, bytes_of("world"));
    file.write(0, bytes_of("hello"));
    EXPECT_EQ(directory.names(), Names{});
    file.commit();
  }
  EXPECT_EQ(directory.names(), Names{"result.npy"});
  EXPECT_EQ(test::read_whole(path), "helloworld");
  const mode_t mask = ::umask(0);
  ::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
}

TEST(OutputFile, LeavesNothingIfItIsNotPublished) {
  const TempDir directory;
  { OutputFile file(directory.path() / "result", 1000, false); }
  EXPECT_EQ(directory.names(), Names{});
}

TEST(OutputFile, OpensNothingToOthersThatWasClosedToThem) {
  const TempDir directory;
  for (const mode_t mode : {0600u, 0664u, 0400u}) {
    const auto path = directory.write("result" + std::to_string(mode), "old");
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    write_file(path, "new", true);
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, mode);
    EXPECT_EQ(test::read_whole(path), "new");
  }
}

TEST(OutputFile, ANameMayBeAsLongAsTheFileSystemHasIt) {
  const TempDir directory;
  const auto longest = directory.path() / std::string(NAME_MAX, 'x');
  write_file(longest, "old");
  write_file(longest, "new", true);
  EXPECT_EQ(test::read_whole(longest), "new");
  const auto longer = directory.path() / std::string(NAME_MAX + 1, 'x');
  expect_error(ErrorKind::output, "create failed: File name too long",
               [&] { OutputFile(longer, 1, false); });
}

TEST(OutputFile, KeepsOwnerAndGroup) {
  const bool root = ::geteuid() == 0;  // only root may change a file's owner
  const uid_t owner = root ? 12345 : ::geteuid();
  const gid_t group = root ? 23456 : ::getegid();
  const TempDir directory;
  const auto path = directory.write("result", "old");
  ASSERT_EQ(::chown(path.c_str(), owner, group), 0);
  write_file(path, "new", true);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, owner);
  EXPECT_EQ(status.st_gid, group);
}

// If the old file's group cannot be kept, another group must not get its rights.
TEST(OutputFile, GivesAnotherGroupNoMoreRightsThanOthers) {
  if (::geteuid() != 0) return;  // only root can change to another user
  const TempDir directory;
  const auto path = directory.write("result", "old");
  ASSERT_EQ(::chmod(directory.path().c_str(), 0777), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0664), 0);
  test::expect_in_child([&] {
    constexpr unsigned other = 12345;
    struct stat status {};
    // Other users may have no access to the parents of this directory.
    return ::chdir(directory.path().c_str()) == 0 && ::setgroups(0, nullptr) == 0 &&
           ::setresgid(other, other, other) == 0 && ::setresuid(other, other, other) == 0 &&
           ::prctl(PR_SET_DUMPABLE, 1) == 0 &&  // otherwise root owns /proc/self/fd
           (write_file("result", "new", true), ::stat("result", &status) == 0) &&
           status.st_gid == other && (status.st_mode & 0777) == 0644;
  });
  EXPECT_EQ(test::read_whole(path), "new");
}

TEST(OutputFile, ReplacesOnlyWhenAsked) {
  const TempDir directory;
  const auto path = directory.write("result", "old");
  expect_error(ErrorKind::output, path.string() + ": exists already",
               [&] { OutputFile(path, 1, false); });
  EXPECT_EQ(test::read_whole(path), "old");
  {
    OutputFile file(path, 3, true);
    file.write(0, bytes_of("new"));
    EXPECT_EQ(test::read_whole(path), "old");
    file.commit();
  }
  EXPECT_EQ(test::read_whole(path), "new");
  EXPECT_EQ(directory.names(), Names{"result"});
}

TEST(OutputFile, WritesWhatALinkLeadsTo) {
  const TempDir directory, other;
  std::filesystem::create_symlink(other.path() / "result", directory.path() / "far");
  std::filesystem::create_symlink("far", directory.path() / "near");
  const auto path = directory.path() / "near";
  write_file(path, "new");  // the link's target does not exist yet
  EXPECT_EQ(test::read_whole(other.path() / "result"), "new");
  expect_error(ErrorKind::output, path.string() + ": exists already",
               [&] { OutputFile(path, 1, false); });
  write_file(path, "newer", true);
  EXPECT_EQ(test::read_whole(other.path() / "result"), "newer");
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  EXPECT_EQ(directory.names(), (Names{"far", "near"}));
  EXPECT_EQ(other.names(), Names{"result"});
}

TEST(OutputFile, RefusesLinksThatLeadToNoFile) {
  const TempDir directory;
  const auto link = [&](const char* name, const char* target) {
    std::filesystem::create_symlink(target, directory.path() / name);
    return directory.path() / name;
  };
  for (const bool replace : {false, true}) {
    for (const auto& [name, target, message] :
         {std::array{"circle", "circle", "(ELOOP)"},
          {"folder", ".", "is a directory"},
          {"nowhere", "missing/result", "missing/result: create failed: "},
          {"slash", "missing/", "is not the name of a file"}}) {
      const auto path = link(name, target);
      expect_error(ErrorKind::output, message, [&] { OutputFile(path, 1, replace); });
      std::filesystem::remove(path);
    }
  }
  const auto path = link("device", "/dev/null");
  expect_error(ErrorKind::output, "not a regular file", [&] { OutputFile(path, 1, true); });
  EXPECT_EQ(directory.names(), Names{"device"});
}

TEST(OutputFile, DoesNotReplaceWhatAppearedMeanwhile) {
  const TempDir directory;
  const auto path = directory.path() / "result";
  {
    OutputFile file(path, 1, false);
    directory.write("result", "theirs");
    expect_error(ErrorKind::output, "exists already", [&] { file.commit(); });
  }
  EXPECT_EQ(test::read_whole(path), "theirs");
  // It is whole, so it stays (see publishing_test.cpp).
  const Names names = directory.names();
  ASSERT_EQ(names.size(), 2u);
  EXPECT_TRUE(names.front().starts_with(".result.") && names.front().ends_with(".ooc-part"));
  EXPECT_EQ(names.back(), "result");
}

TEST(OutputFile, SaysWhyItCannotBeMade) {
  const TempDir directory;
  expect_error(ErrorKind::output, "(ENOENT)",
               [&] { OutputFile(directory.path() / "missing" / "result", 1, false); });
  const auto file = directory.write("file", "x");
  expect_error(ErrorKind::output, "create failed: Not a directory (ENOTDIR)",
               [&] { OutputFile(file / "below", 1, false); });
  std::filesystem::remove(file);
  expect_error(ErrorKind::output, "is a directory", [&] { OutputFile(directory.path(), 1, true); });
  expect_error(ErrorKind::output, "not a regular file", [] { OutputFile("/dev/null", 1, true); });
  expect_error(ErrorKind::output, "allocate failed",
               [&] { OutputFile(directory.path() / "huge", std::uint64_t{1} << 60, false); });
  EXPECT_EQ(directory.names(), Names{});
}

TEST(OutputFile, TakesWritesFromSeveralThreads) {
  const TempDir directory;
  const auto path = directory.path() / "result";
  const auto bytes = test::random_bytes(400'000, 1);
  OutputFile file(path, bytes.size(), false);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 4; ++i) {
      threads.emplace_back(
          [&, i] { file.write(i * 100'000, std::span{bytes}.subspan(i * 100'000, 100'000)); });
    }
  }
  file.commit();
  const std::string written = test::read_whole(path);
  EXPECT_TRUE(test::same_bytes(bytes_of(written), bytes));
}

TEST(OutputFile, OpensDirectlyWhatCanBeWrittenDirectly) {
  const TempDir directory;
  const File input = File::open(directory.write("input", std::string(page_bytes, 'i')));
  OutputFile file(directory.path() / "result", 3 * page_bytes, false);
  EXPECT_EQ(file.direct() >= 0, input.direct() >= 0) << file.why_not_direct();
  EXPECT_EQ(file.direct() >= 0, file.why_not_direct().empty());
  EXPECT_FALSE(file.is_tmpfs());
  const OutputFile small(directory.path() / "small", page_bytes - 1, false);
  EXPECT_LT(small.direct(), 0);
  EXPECT_EQ(small.why_not_direct(), "the output is smaller than a page");
}

TEST(OutputFile, TriesWhetherItCanBeWrittenDirectly) {
  const TempDir directory;
  const auto path = directory.path() / "result";
  if (OutputFile(path, page_bytes, false).direct() < 0) GTEST_SKIP() << "no direct I/O here";
  test::expect_in_child([&] {
    test::refuse_system_call(SYS_pwrite64, EINVAL);
    const OutputFile file(path, page_bytes, false);
    return file.direct() < 0 && file.why_not_direct() ==
                                    "the file system refused an O_DIRECT test write: Invalid "
                                    "argument (EINVAL)";
  });
  test::expect_in_child([&] {
    test::refuse_system_call(SYS_openat, EINVAL, 2, O_DIRECT);
    const OutputFile file(path, page_bytes, false);
    return file.direct() < 0 && file.why_not_direct() ==
                                    "the file system refused to open it with O_DIRECT: Invalid "
                                    "argument (EINVAL)";
  });
}

// The O_DIRECT test write must leave no bytes in the file.
TEST(OutputFile, HoldsZerosWhereNothingWasWritten) {
  for (const char* place : {".", "/dev/shm"}) {
    const TempDir directory(place);
    const auto path = directory.path() / "result";
    OutputFile file(path, 10'000, false);
    file.write(9000, bytes_of("x"));
    file.commit();
    EXPECT_EQ(test::read_whole(path), std::string(9000, '\0') + 'x' + std::string(999, '\0'));
  }
}

TEST(OutputFile, HasItsSpaceBeforeItIsPublished) {
  for (const char* place : {".", "/dev/shm"}) {
    const TempDir directory(place);
    const auto path = directory.path() / "result";
    OutputFile file(path, 3 * MiB, false);
    file.commit();
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_size, 3 * std::int64_t{MiB});
    EXPECT_GE(status.st_blocks * 512, 3 * std::int64_t{MiB});
  }
}

TEST(OutputFileOnTmpfs, TakesWritesOfAnySizeFromSeveralThreads) {
  const TempDir directory("/dev/shm");
  const auto path = directory.path() / "result";
  const auto bytes = test::random_bytes(4 * MiB + 7, 1);
  OutputFile file(path, bytes.size(), false);
  EXPECT_TRUE(file.is_tmpfs());
  EXPECT_LT(file.direct(), 0);
  EXPECT_EQ(file.why_not_direct(), "tmpfs has no disk under it");
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        const std::size_t piece = 10'000 + 4096 * i;  // so that writers share pages
        for (std::size_t begin; (begin = next.fetch_add(piece)) < bytes.size();) {
          file.write(begin, std::span{bytes}.subspan(begin, std::min(piece, bytes.size() - begin)));
        }
      });
    }
  }
  file.write(bytes.size(), {});
  file.commit();
  const std::string written = test::read_whole(path);
  EXPECT_TRUE(test::same_bytes(bytes_of(written), bytes));
}

TEST(OutputFile, ReportsFailedWrites) {
  const TempDir directory;
  test::expect_in_child([&] {
    std::signal(SIGXFSZ, SIG_DFL);  // the default kills the process
    OutputFile file(directory.path() / "result", 10, false);
    const rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      file.write(200, bytes_of("x"));
    } catch (const Error& error) {
      sigset_t pending;
      ::sigpending(&pending);
      return error.kind() == ErrorKind::output && error.details().offset == 200u &&
             error.details().errno_value == EFBIG && sigismember(&pending, SIGXFSZ) == 0;
    }
    return false;
  });
}

TEST(OutputFile, RemovesWhatAKilledRunHasLeft) {
  const TempDir directory;
  directory.write(".result.abcd1234.ooc-tmp", "stale");
  directory.write(".other.abcd1234.ooc-tmp", "of another target");
  const auto living = directory.write(".result.living00.ooc-tmp", "in use");
  const int descriptor = ::open(living.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
  write_file(directory.path() / "result", "x");
  EXPECT_EQ(directory.names(),
            (Names{".other.abcd1234.ooc-tmp", ".result.living00.ooc-tmp", "result"}));
  ::close(descriptor);
}

// Some file systems do not support O_TMPFILE.
TEST(OutputFile, WorksWithNamedTemporaries) {
  constexpr std::uint32_t nameless = O_TMPFILE & ~O_DIRECTORY;
  const TempDir directory;
  directory.write("old", "old");
  test::expect_in_child([&] {
    test::refuse_system_call(SYS_openat, EOPNOTSUPP, 2, nameless);
    const auto new_path = directory.path() / "new";
    OutputFile file(new_path, 3, false);
    const bool named = directory.names().front().starts_with(".new.");
    file.write(0, bytes_of("new"));
    file.commit();
    write_file(directory.path() / "old", "replaced", true);
    { OutputFile dropped(directory.path() / "dropped", 3, false); }
    bool kept = false;
    try {
      OutputFile late(directory.path() / "late", 1, false);
      directory.write("late", "theirs");
      late.commit();
    } catch (const Error& error) {
      kept = test::read_whole(directory.path() / "late") == "theirs";
    }
    return named && kept;
  });
  const Names names = directory.names();
  ASSERT_EQ(names.size(), 4u);
  EXPECT_TRUE(names.front().starts_with(".late.") && names.front().ends_with(".ooc-part"));
  EXPECT_EQ(Names(names.begin() + 1, names.end()), (Names{"late", "new", "old"}));
  EXPECT_EQ(test::read_whole(directory.path() / "new"), "new");
  EXPECT_EQ(test::read_whole(directory.path() / "old"), "replaced");
}

}  // namespace
}  // namespace ooc::detail
