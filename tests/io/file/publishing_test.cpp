// Tests of how a finished output gets its name where the kernel refuses some of the ways.

#include <gtest/gtest.h>

#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::bytes_of;
using test::TempDir;
using Names = std::vector<std::string>;

/// Calls that fail together. `fresh`, `replacing`: a new output, or one that replaces a file, can
/// get its name all the same.
struct Refused {
  std::vector<long> calls;
  bool fresh, replacing;
};

const std::vector<Refused> all_refused{
    {{SYS_linkat}, true, true},
    {{SYS_renameat2}, true, true},
    {{SYS_linkat, SYS_renameat2}, true, true},
    {{SYS_linkat, SYS_renameat2, SYS_link}, true, true},
    {{SYS_rename}, true, false},
    {{SYS_linkat, SYS_renameat2, SYS_link, SYS_rename}, false, false},
};

constexpr int errors[] = {EPERM, EXDEV, EMLINK, EINVAL, ENOSYS, EIO};

/// True if the error says where the only other file of the directory is, and that one is whole.
bool says_where_it_is(const TempDir& directory, const Error& error, bool replace) {
  Names others = directory.names();
  if (replace) std::erase(others, "result");
  if (others.size() != 1) return false;
  const std::filesystem::path path = directory.path() / others.front();
  const bool is_hidden_from_cleaning = path.extension() == ".ooc-part";
  return error.kind() == ErrorKind::output && test::read_whole(path) == "new" &&
         is_hidden_from_cleaning && error.details().why.find(path.string()) != std::string::npos &&
         error.details().hint.find("mv " + path.string()) != std::string::npos;
}

struct Case {
  bool replace, keeps, at_the_end;
};

/// Writes an output while calls are refused, from the beginning or from the commit on.
bool is_whole_or_named(const TempDir& directory, const Refused& refused, int errno_value,
                       const Case& now) {
  const std::filesystem::path path = directory.path() / "result";
  const bool can = now.replace ? refused.replacing : refused.fresh;
  const auto refuse = [&] {
    for (const long call : refused.calls) test::refuse_system_call(call, errno_value);
  };
  if (!now.at_the_end) refuse();
  try {
    const KeptFile kept{.name = now.keeps ? new_kept_name(path) : ""};
    OutputFile file(path, 3, now.replace, Purpose::write, kept);
    file.write(0, bytes_of("new"));
    if (now.at_the_end) refuse();
    try {
      file.commit();
      return test::read_whole(path) == "new" && directory.names() == Names{"result"};
    } catch (const Error& error) {
      return !can && now.at_the_end && says_where_it_is(directory, error, now.replace);
    }
  } catch (const Error& error) {  // before the work
    return !can && !now.at_the_end && error.kind() == ErrorKind::output &&
           error.details().errno_value == errno_value &&
           directory.names() == (now.replace ? Names{"result"} : Names{});
  }
}

TEST(Publishing, LosesNoFinishedFileWhateverIsRefused) {
  for (const Refused& refused : all_refused) {
    for (const int errno_value : errors) {
      for (const bool replace : {false, true}) {
        for (const bool keeps : {false, true}) {
          for (const bool at_the_end : {false, true}) {
            const TempDir directory("/dev/shm");
            if (replace) directory.write("result", "old");
            const Case now{replace, keeps, at_the_end};
            SCOPED_TRACE(std::to_string(refused.calls.size()) + " calls from " +
                         std::to_string(refused.calls.front()) + ", " +
                         describe_errno(errno_value) + (replace ? ", replaces" : "") +
                         (keeps ? ", kept" : "") + (at_the_end ? ", at the end" : ""));
            test::expect_in_child(
                [&] { return is_whole_or_named(directory, refused, errno_value, now); });
          }
        }
      }
    }
  }
}

TEST(Publishing, NeedsNoNamelessFiles) {
  for (const int errno_value : {EOPNOTSUPP, EISDIR, EINVAL, EPERM, ENOSYS, EIO}) {
    const TempDir directory;
    test::expect_in_child([&] {
      constexpr std::uint32_t nameless = O_TMPFILE & ~O_DIRECTORY;
      test::refuse_system_call(SYS_openat, errno_value, 2, nameless);
      OutputFile file(directory.path() / "result", 3, false);
      file.write(0, bytes_of("new"));
      file.commit();
      return test::read_whole(directory.path() / "result") == "new";
    });
    EXPECT_EQ(directory.names(), Names{"result"});
  }
}

TEST(Publishing, SaysThatAnEmptyFileMayBeLeft) {
  const TempDir directory;
  test::expect_in_child([&] {
    if (!OutputFile(directory.path() / "result", 3, false).note().empty()) return false;
    for (const long call : {SYS_linkat, SYS_renameat2, SYS_link}) {
      test::refuse_system_call(call, EIO);
    }
    return OutputFile(directory.path() / "result", 3, false).note().find("empty file") !=
               std::string::npos &&
           OutputFile(directory.path() / "other", 3, true).note().empty();
  });
  EXPECT_EQ(directory.names(), Names{});
}

TEST(Publishing, KeepsWhatIsNotToReplaceAnotherFile) {
  for (const bool keeps : {false, true}) {
    const TempDir directory;
    const std::filesystem::path path = directory.path() / "result";
    OutputFile file(path, 3, false, Purpose::write,
                    {.name = keeps ? new_kept_name(path) : std::string()});
    file.write(0, bytes_of("new"));
    directory.write("result", "of another program");
    try {
      file.commit();
      ADD_FAILURE() << "replaces it";
    } catch (const Error& error) {
      EXPECT_EQ(error.details().errno_value, EEXIST);
      EXPECT_TRUE(says_where_it_is(directory, error, true)) << error.details().why;
    }
    EXPECT_EQ(test::read_whole(path), "of another program");
  }
}

TEST(Publishing, NeedsNoRightToReadTheDirectory) {
  const TempDir directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0333));
  test::expect_in_child([&] {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return false;
    OutputFile file(directory.path() / "result", 3, false);
    file.write(0, bytes_of("new"));
    file.commit();
    return test::read_whole(directory.path() / "result") == "new";
  });
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
}

}  // namespace
}  // namespace ooc::detail
