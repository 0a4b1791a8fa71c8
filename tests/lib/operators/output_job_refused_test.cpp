// Jobs that write files and are refused, or whose outputs are not as they were left.

#include <ooc/detail/operators/output_job.hpp>

#include <ooc/error.hpp>
#include <ooc/map.hpp>
#include <ooc/write.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "lib/operators/output_job_fixture.hpp"
#include "support/child_process.hpp"
#include "support/watched_calls.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::Halve;
using test::to_device;

using OutputJobRefusedTest = test::OutputJobTest;

INSTANTIATE_TEST_SUITE_P(Machines, OutputJobRefusedTest, test::all_machines, test::machine_name);

TEST_P(OutputJobRefusedTest, RefusesAnotherJob) {
  leave_file();
  Coordinator coordinator = machine();
  const auto refuse = [&](ErrorKind kind, const std::string& what, const auto& op,
                          const Target& target) {
    expect_error(kind, what, [&] { map(coordinator, op, data_, target, after_each()); });
    EXPECT_TRUE(std::filesystem::exists(kept_));
  };
  refuse(ErrorKind::usage, "is of another job", Halve{.factor = 0.25}, halves());
  Target other = halves();
  other.path = made_ / "others.npy";
  refuse(ErrorKind::usage, "is of another job", Halve{}, other);
  other = halves();
  other.type->swapped = false;
  refuse(ErrorKind::usage, "is of another job", Halve{}, other);
  other = halves();
  other.shape = {count_, 1};
  refuse(ErrorKind::usage, "is of another job", Halve{}, other);
  // A job that has not got far is not replaced, either: its output would stay for ever.
  std::filesystem::remove(path_);
  std::filesystem::remove(kept_);
  leave_file(1);
  refuse(ErrorKind::usage, "is of another job", Halve{.factor = 0.25}, halves());
  map(coordinator, Halve{}, data_, halves(), after_each());
  EXPECT_EQ(names_in(made_), std::vector<std::string>{"halves.npy"});
}

TEST_P(OutputJobRefusedTest, RefusesAnOutputThatIsNotAsItWas) {
  leave_file();
  Coordinator coordinator = machine();
  const auto refuse = [&](const std::string& what) {
    expect_error(ErrorKind::output, what,
                 [&] { map(coordinator, Halve{}, data_, halves(), after_each()); });
  };
  {
    const int descriptor = ::open(kept_.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(descriptor, 0);
    ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
    refuse("another run is writing it");
    ::close(descriptor);
  }
  const auto bytes = std::filesystem::file_size(kept_);
  std::filesystem::resize_file(kept_, bytes - 1);
  refuse("is not as it was left");
  std::filesystem::resize_file(kept_, bytes);
  std::filesystem::rename(kept_, made_ / "elsewhere");
  refuse("open failed: No such file");
  std::filesystem::create_symlink("elsewhere", kept_);
  refuse("open failed: ");
  std::filesystem::rename(made_ / "elsewhere", kept_);
  // After the end, another file in its place is not taken for it.
  map(coordinator, Halve{}, data_, halves(), after_each());
  EXPECT_EQ(map(coordinator, Halve{failing(1)}, data_, halves(), after_each()).stats.outcome.passes,
            1u);
  std::ofstream(halves().path) << "another";
  refuse("exists already");
  std::filesystem::remove(halves().path);
  refuse("open failed: No such file");
}

/// In a child process, which cannot use a GPU.
using OutputJobDiskTest = test::OutputJobTest;
INSTANTIATE_TEST_SUITE_P(Machines, OutputJobDiskTest,
                         testing::Values(test::Machine::cpu, test::Machine::late),
                         test::machine_name);

TEST_P(OutputJobDiskTest, SaysOnlyOfWhatIsThere) {
  test::expect_in_child([&] {
    // The first call after three partitions are saved. Where a pass was stopped before its first
    // step, as on a busy machine, there is a call for it, too.
    auto has_failed = std::make_shared<std::atomic<bool>>(false);
    test::watch_system_call(SYS_fdatasync, [has_failed, path = path_](const __u64*) {
      if (*has_failed || !std::filesystem::exists(path)) return 0;
      const PartFile saved = read_part_file(path);
      if (saved.covers.empty()) return 0;
      if (saved.covers.front().end() < 3 * test::values_of_a_step) return 0;
      *has_failed = true;
      return EIO;
    });
    Coordinator coordinator = machine();
    try {
      map(coordinator, Halve{}, data_, halves(), after_each());
    } catch (const Error& error) {
      return error.kind() == ErrorKind::output && error.details().errno_value == EIO;
    }
    return false;
  });
  const PartFile saved = read_part_file(path_);
  ASSERT_EQ(saved.covers.size(), 1u);
  EXPECT_EQ(saved.covers.front().end(), 3 * test::values_of_a_step);
  Coordinator coordinator = machine();
  map(coordinator, Halve{failing(0)}, data_, halves(), after_each());
  EXPECT_EQ(seen_, steps_ - 3);
}

TEST_P(OutputJobRefusedTest, AnotherRunLeavesTheOutputAlone) {
  leave_file();
  Coordinator coordinator = machine();
  map(coordinator, Halve{}, data_, halves());  // without a checkpoint
  EXPECT_TRUE(std::filesystem::exists(kept_));
  Target target = halves();
  target.replace = true;
  map(coordinator, Halve{failing(0)}, data_, target, after_each());
  EXPECT_EQ(seen_, steps_ - 7);
  EXPECT_EQ(names_in(made_), std::vector<std::string>{"halves.npy"});
}

struct UnnamedDoubled : test::Doubled {};
struct Smoothed : Halve {
  std::size_t before() const { return 1; }
  void transform(Stream& stream, DeviceWindow<const float> in, DeviceChunk<double> out) const {
    const std::vector<double> made(out.size);
    to_device(stream, out.data, std::span<const double>(made));
    EXPECT_GE(in.size, out.size);
  }
};
struct WriteZeros {
  using Output = float;
  void produce(Stream&, DeviceChunk<float>) const {}
};

TEST_P(OutputJobRefusedTest, RefusesJobsThatCannotGoOn) {
  Coordinator coordinator = machine();
  const Target target = target_in(made_, "made.bin", ElementType::f4);
  expect_error(ErrorKind::usage, "the findings of this operator cannot be saved",
               [&] { map(coordinator, UnnamedDoubled{}, data_, target, after_each()); });
  expect_error(ErrorKind::usage, "the findings of this operator cannot be saved",
               [&] { map(coordinator, Smoothed{}, data_, halves(), after_each()); });
  expect_error(ErrorKind::usage, "a job of this kind has no checkpoint",
               [&] { write(coordinator, WriteZeros{}, target, 5, after_each()); });
  PassOptions wanted = after_each();
  wanted.checksum = true;
  expect_error(ErrorKind::usage, "has no checksum",
               [&] { map(coordinator, Halve{}, data_, halves(), wanted); });
  EXPECT_EQ(names_in(made_), std::vector<std::string>{});
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace ooc::detail
