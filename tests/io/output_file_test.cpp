#include <gtest/gtest.h>

#include <ooc/io/output_file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "expect_error.hpp"
#include "support/temp_dir.hpp"

namespace ooc {
namespace {

using test::expect_error;
using test::TempDir;
using Names = std::vector<std::string>;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

void write_file(const std::filesystem::path& path, std::string_view text, bool replace = false) {
  OutputFile file(path, text.size(), replace);
  file.write(0, bytes_of(text));
  file.publish();
}

TEST(OutputFile, AppearsWhenItIsPublished) {
  const TempDir directory;
  const auto path = directory.path() / "result.npy";
  {
    OutputFile file(path, 10, false);
    file.write(5, bytes_of("world"));
    file.write(0, bytes_of("hello"));
    EXPECT_EQ(directory.names(), Names{});
    file.publish();
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

TEST(OutputFile, ReplacesOnlyWhenAsked) {
  const TempDir directory;
  const auto path = directory.write("result", "old");
  expect_error(Cause::output, path.string() + ": exists already",
               [&] { OutputFile(path, 1, false); });
  EXPECT_EQ(test::read_whole(path), "old");
  {
    OutputFile file(path, 3, true);
    file.write(0, bytes_of("new"));
    EXPECT_EQ(test::read_whole(path), "old");
    file.publish();
  }
  EXPECT_EQ(test::read_whole(path), "new");
  EXPECT_EQ(directory.names(), Names{"result"});
}

TEST(OutputFile, DoesNotReplaceWhatAppearedMeanwhile) {
  const TempDir directory;
  const auto path = directory.path() / "result";
  {
    OutputFile file(path, 1, false);
    directory.write("result", "theirs");
    expect_error(Cause::output, "exists already", [&] { file.publish(); });
  }
  EXPECT_EQ(test::read_whole(path), "theirs");
  EXPECT_EQ(directory.names(), Names{"result"});
}

TEST(OutputFile, SaysWhyItCannotBeMade) {
  const TempDir directory;
  expect_error(Cause::output, "(ENOENT)",
               [&] { OutputFile(directory.path() / "missing" / "result", 1, false); });
  expect_error(Cause::output, "is a directory", [&] { OutputFile(directory.path(), 1, true); });
  expect_error(Cause::output, "not a regular file", [] { OutputFile("/dev/null", 1, true); });
  expect_error(Cause::output, "allocate failed",
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
  file.publish();
  const std::string written = test::read_whole(path);
  EXPECT_TRUE(std::ranges::equal(bytes_of(written), bytes));
}

TEST(OutputFile, ReportsFailedWrites) {
  const TempDir directory;
  test::expect_in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    OutputFile file(directory.path() / "result", 10, false);
    const rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      file.write(200, bytes_of("x"));
    } catch (const Error& error) {
      return error.cause() == Cause::output && error.details().offset == 200u &&
             error.details().errno_value == EFBIG;
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

// Where the file system has no nameless files.
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
    file.publish();
    write_file(directory.path() / "old", "replaced", true);
    { OutputFile dropped(directory.path() / "dropped", 3, false); }
    bool kept = false;
    try {
      OutputFile late(directory.path() / "late", 1, false);
      directory.write("late", "theirs");
      late.publish();
    } catch (const Error& error) {
      kept = test::read_whole(directory.path() / "late") == "theirs";
    }
    return named && kept;
  });
  EXPECT_EQ(directory.names(), (Names{"late", "new", "old"}));
  EXPECT_EQ(test::read_whole(directory.path() / "new"), "new");
  EXPECT_EQ(test::read_whole(directory.path() / "old"), "replaced");
}

}  // namespace
}  // namespace ooc
