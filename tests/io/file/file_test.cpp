#include <gtest/gtest.h>

#include <ooc/detail/file/file.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/child_process.hpp"
#include "support/data_file.hpp"
#include "support/temp_dir.hpp"
#include "support/watched_calls.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::TempDir;

TEST(File, ReadsDirectlyWhereThereIsADisk) {
  const TempDir directory;
  const auto bytes = test::random_bytes(3 * page_bytes + 1, 1);
  const File file = File::open(directory.write("data.bin", bytes));
  EXPECT_EQ(file.size(), bytes.size());
  EXPECT_GE(file.buffered(), 0);
  if (file.direct() < 0) GTEST_SKIP() << "no direct I/O here: " << file.why_not_direct();
  alignas(page_bytes) std::array<std::byte, page_bytes> block;
  ASSERT_EQ(::pread(file.direct(), block.data(), block.size(), page_bytes), ssize_t{page_bytes});
  EXPECT_TRUE(std::equal(block.begin(), block.end(), bytes.begin() + page_bytes));
  EXPECT_EQ(file.why_not_direct(), "");
}

TEST(File, IsOpenedByEachReadIfItWasOnlySeen) {
  const TempDir directory;
  const auto bytes = test::random_bytes(5000, 1);
  const auto path = directory.write("data.bin", bytes);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  const File file = File::unopened(path, status);
  EXPECT_TRUE(file.is_unopened());
  EXPECT_EQ(file.size(), bytes.size());
  EXPECT_EQ(file.buffered(), -1);
  std::vector<std::byte> found(1000);
  read_exactly(file, 3000, found);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), bytes.begin() + 3000));
  const auto read = [&] { read_exactly(file, 0, found); };
  const auto check = [&] { file.check_unchanged(); };
  EXPECT_TRUE(file.is_as_it_was());
  check();
  directory.write("other", bytes);
  std::filesystem::rename(directory.path() / "other", path);
  expect_error(ErrorKind::input_changed, "data.bin: changed while it was read", read);
  EXPECT_FALSE(file.is_as_it_was());
  expect_error(ErrorKind::input_changed, "data.bin: changed while it was read", check);
  std::filesystem::remove(path);
  expect_error(ErrorKind::input_changed, "data.bin: changed while it was read", read);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_error(ErrorKind::input_changed, "data.bin: changed while it was read", check);
}

TEST(File, MayWaitForItsDisk) {
  const TempDir dir;
  const auto path = dir.path() / "data";
  test::write_file(path, std::vector<char>(65536));
  const File file = File::open(path);
  EXPECT_EQ(fcntl(file.buffered(), F_GETFL) & O_NONBLOCK, 0);
  if (file.direct() < 0) return;
  EXPECT_EQ(fcntl(file.direct(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(File, DoesNotReadDirectlyFromMemory) {
  if (!std::filesystem::exists("/dev/shm")) GTEST_SKIP() << "no tmpfs";
  const TempDir directory("/dev/shm");
  const File file = File::open(directory.write("data.bin", test::random_bytes(9000, 1)));
  EXPECT_LT(file.direct(), 0);
  EXPECT_EQ(file.why_not_direct(), "tmpfs has no disk under it");
}

TEST(File, DoesNotReadSmallFilesDirectly) {
  const TempDir directory;
  EXPECT_EQ(File::open(directory.write("small", test::random_bytes(4095, 1))).why_not_direct(),
            "it is smaller than a page");
  const File empty = File::open(directory.write("empty", ""));
  EXPECT_EQ(empty.size(), 0u);
  EXPECT_LT(empty.direct(), 0);
}

TEST(File, TellsADiskThatFailsFromAFileSystemThatRefuses) {
  const TempDir directory;
  const auto path = directory.write("data.bin", test::random_bytes(9000, 1));
  if (File::open(path).direct() < 0) GTEST_SKIP() << File::open(path).why_not_direct();
  test::expect_in_child([&] {
    test::refuse_system_call(SYS_pread64, EIO);
    const File file = File::open(path);
    return file.direct() < 0 && file.disk_errno() == EIO &&
           file.why_not_direct() == "an O_DIRECT test read failed: Input/output error (EIO)";
  });
  test::expect_in_child([&] {
    test::refuse_system_call(SYS_pread64, EINVAL);
    const File file = File::open(path);
    return file.direct() < 0 && file.disk_errno() == 0 &&
           file.why_not_direct() ==
               "the file system refused an O_DIRECT test read: Invalid argument (EINVAL)";
  });
}

// The second descriptor is opened by name, and the name may refer to another file by then.
TEST(File, DoesNotReadAnotherFileDirectlyThatTookItsName) {
  const TempDir directory;
  const auto path = directory.write("data.bin", test::random_bytes(9000, 1));
  if (File::open(path).direct() < 0) GTEST_SKIP() << File::open(path).why_not_direct();
  test::expect_in_child([&] {
    const auto replace_it = [&](const auto*) {
      std::filesystem::rename(directory.write("other", test::random_bytes(9000, 2)), path);
      return 0;
    };
    test::watch_system_call(SYS_openat, replace_it, 2, O_DIRECT);
    const File file = File::open(path);
    return file.direct() < 0 && file.disk_errno() == 0 &&
           file.why_not_direct() == "another file took its name while it was being opened";
  });
}

TEST(File, NamesWhatItCannotRead) {
  const TempDir directory;
  const auto fifo = directory.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const auto socket_path = directory.path() / "s";
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = std::filesystem::relative(socket_path).string();
  ASSERT_LT(name.size(), sizeof address.sun_path);
  name.copy(address.sun_path, name.size());
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);

  expect_error(ErrorKind::bad_input, "is a directory", [&] { File::open(directory.path()); });
  expect_error(ErrorKind::bad_input, "is a FIFO", [&] { File::open(fifo); });
  expect_error(ErrorKind::bad_input, "is a socket", [&] { File::open(socket_path); });
  expect_error(ErrorKind::bad_input, "is a character device", [] { File::open("/dev/zero"); });
  expect_error(ErrorKind::bad_input, "made up by the kernel", [] { File::open("/proc/cpuinfo"); });
  ::close(socket);
}

TEST(File, SaysWhyItDoesNotOpen) {
  const TempDir directory;
  const auto missing = directory.path() / "missing.bin";
  expect_error(ErrorKind::input,
               missing.string() + ": open failed: No such file or directory (ENOENT)",
               [&] { File::open(missing); });
  const auto file = directory.write("file", "x");
  expect_error(ErrorKind::input, "(ENOTDIR)", [&] { File::open(file / "below"); });
  if (::geteuid() == 0) return;  // root may read anything
  std::filesystem::permissions(file, std::filesystem::perms::none);
  expect_error(ErrorKind::input, "(EACCES)", [&] { File::open(file); });
}

TEST(File, Moves) {
  const TempDir directory;
  File first = File::open(directory.write("first", "1"));
  File second = File::open(directory.write("second", "22"));
  const int descriptor = second.buffered();
  first = std::move(second);
  EXPECT_EQ(first.buffered(), descriptor);
  EXPECT_EQ(first.size(), 2u);
  EXPECT_EQ(first.path().filename(), "second");
  const File third{std::move(first)};
  EXPECT_EQ(third.buffered(), descriptor);
  EXPECT_LT(first.buffered(), 0);  // NOLINT(bugprone-use-after-move): tested here
}

class ChangingFileTest : public testing::Test {
 protected:
  /// Waits because the timestamps of files advance only every few milliseconds on some systems.
  ChangingFileTest() { wait_for_a_tick(); }

  static void wait_for_a_tick() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

  void write_over() const {
    std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary) << 'x';
  }

  void expect_changed(std::string_view why) const {
    try {
      file_.check_unchanged();
      ADD_FAILURE() << "not noticed: " << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input_changed);
      EXPECT_EQ(error.details().why, why);
    }
  }

  TempDir directory_;
  std::filesystem::path path_ = directory_.write("data", test::random_bytes(9000, 1));
  File file_ = File::open(path_);
};

TEST_F(ChangingFileTest, IsUnchangedIfItIsRead) {
  test::read_whole(path_);
  EXPECT_NO_THROW(file_.check_unchanged());
  EXPECT_TRUE(file_.is_as_it_was());
}

TEST_F(ChangingFileTest, SeesWhatIsWritten) {
  write_over();
  expect_changed("another program wrote to it");
}

TEST_F(ChangingFileTest, SeesAnotherSize) {
  std::filesystem::resize_file(path_, 9001);
  expect_changed("its size went from 9000 to 9001 bytes");
  std::filesystem::resize_file(path_, 10);
  expect_changed("its size went from 9000 to 10 bytes");
}

TEST_F(ChangingFileTest, SeesWhatIsWrittenThoughItsTimeIsSetBack) {
  const auto time = std::filesystem::last_write_time(path_);
  write_over();
  std::filesystem::last_write_time(path_, time);
  expect_changed(
      "its time of last change (ctime) moved, its time of last write did not: another program may "
      "have written to it and set that time back");
  EXPECT_FALSE(file_.is_as_it_was());
}

TEST_F(ChangingFileTest, MayGetAnotherMode) {
  std::filesystem::permissions(path_, std::filesystem::perms::owner_read);
  EXPECT_NO_THROW(file_.check_unchanged());
  EXPECT_FALSE(file_.is_as_it_was());
}

TEST_F(ChangingFileTest, MayGetAnotherLink) {
  std::filesystem::create_hard_link(path_, directory_.path() / "link");
  EXPECT_NO_THROW(file_.check_unchanged());
  EXPECT_FALSE(file_.is_as_it_was());
}

TEST_F(ChangingFileTest, MayBeRemovedOrReplaced) {
  const auto other = directory_.write("other", test::random_bytes(9000, 2));
  std::filesystem::rename(other, path_);
  EXPECT_NO_THROW(file_.check_unchanged());
  std::filesystem::remove(path_);
  EXPECT_NO_THROW(file_.check_unchanged());
  EXPECT_FALSE(file_.is_as_it_was());
}

TEST_F(ChangingFileTest, SeesThatItsNameLeadsElsewhere) {
  std::filesystem::rename(path_, directory_.path() / "renamed");
  EXPECT_NO_THROW(file_.check_unchanged());
  EXPECT_FALSE(file_.is_as_it_was());
  directory_.write("data", "another");
  EXPECT_FALSE(file_.is_as_it_was());
}

}  // namespace
}  // namespace ooc::detail
