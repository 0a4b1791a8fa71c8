// A kernel that goes wrong takes the GPU away from its process. So each test has a process of its
// own, which is killed if it hangs.

#include <ooc/fold.hpp>
#include <ooc/io/error.hpp>
#include <ooc/map.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/temp_dir.hpp"

namespace ooc {
namespace {

constexpr unsigned patience_seconds = 60;  // with CUDA's start, too
constexpr int expected_error = 8, other_error = 1;

__global__ void write_nowhere(std::uint64_t address) {
  *reinterpret_cast<volatile int*>(address) = 1;
}

void lose_gpu(Stream& stream) {
  write_nowhere<<<1, 1, 0, static_cast<cudaStream_t>(stream.native())>>>(64);
}

/// Loses the GPU amid a pass, with copies and kernels of two streams under way.
struct LosingFold {
  using Input = std::uint8_t;
  using Partial = int;

  void consume(Stream& stream, DeviceChunk<const Input> in, Partial& /*part*/) const {
    if (in.first != 0) lose_gpu(stream);
  }
  void merge(Partial& /*total*/, const Partial& /*part*/) const {}
};

struct LosingMap {
  using Input = std::uint8_t;
  using Output = std::uint8_t;

  void transform(Stream& stream, DeviceChunk<const Input> in, DeviceSpan<Output> out) const {
    stream.copy(out.data, in.data, in.size);
    if (in.first != 0) lose_gpu(stream);
  }
};

/// Begins a kernel of more threads than a block can have, and does not ask whether it began.
struct CarelessFold {
  using Input = std::uint8_t;
  using Partial = int;
  bool begins_too_many;

  void consume(Stream& stream, DeviceChunk<const Input> /*in*/, Partial& part) const {
    constexpr unsigned too_many = 4096;
    ++part;
    if (!begins_too_many) return;
    write_nowhere<<<1, too_many, 0, static_cast<cudaStream_t>(stream.native())>>>(64);
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

class LostGpuCudaTest : public testing::Test {
 protected:
  void SetUp() override {
    OOC_SKIP_WITHOUT(DeviceKind::cuda);
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // CUDA does not survive a fork
    test::write_file(source_, std::vector<std::uint8_t>(64 * 65536));
  }

  /// Ends the process as a program should: the error is shown, all of ours has been destroyed, and
  /// of CUDA's own nothing.
  template <class Run>
  [[noreturn]] void lose_gpu_in(Run&& run) {
    ::alarm(patience_seconds);
    int code = other_error;
    try {
      Coordinator coordinator(make_device(DeviceKind::cuda), {.chunk_bytes = 65536});
      run(coordinator);
    } catch (const Error& error) {
      std::fprintf(stderr, "%s; %s\n", error.what(), error.details().why.c_str());
      const bool is_clean = dir_->names() == std::vector<std::string>{"in.u8"};
      if (error.kind() == ErrorKind::device && is_clean) code = expected_error;
    }
    dir_.reset();
    ::_exit(code);
  }

  static constexpr const char* lost = "cudaErrorIllegalAddress.*this process has lost it";

  std::optional<test::TempDir> dir_{std::in_place};  // each process has its own
  std::filesystem::path source_ = dir_->path() / "in.u8";
};

TEST_F(LostGpuCudaTest, EndsAFold) {
  const auto run = [this](Coordinator& on) { fold(on, LosingFold{}, open(source_)); };
  EXPECT_EXIT(lose_gpu_in(run), testing::ExitedWithCode(expected_error), lost);
}

TEST_F(LostGpuCudaTest, EndsAMapThatLeavesNoFile) {
  const auto run = [this](Coordinator& on) {
    map(on, LosingMap{}, open(source_),
        {.path = dir_->path() / "out.u8", .type = {ElementType::u1}});
  };
  EXPECT_EXIT(lose_gpu_in(run), testing::ExitedWithCode(expected_error), lost);
}

// What comes after that is told the same, at once.
TEST_F(LostGpuCudaTest, IsLostForTheNextPass) {
  const auto run = [this](Coordinator& on) {
    EXPECT_THROW(fold(on, LosingFold{}, open(source_)), Error);
    fold(on, LosingFold{}, open(source_));
  };
  EXPECT_EXIT(lose_gpu_in(run), testing::ExitedWithCode(expected_error), lost);
}

// One that does not begin takes nothing away; but what it was to compute would be missing.
TEST_F(LostGpuCudaTest, IsNotLostToAKernelThatDoesNotBegin) {
  Coordinator coordinator(make_device(DeviceKind::cuda), {.chunk_bytes = 65536});
  try {
    fold(coordinator, CarelessFold{.begins_too_many = true}, open(source_));
    ADD_FAILURE() << "nobody has noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    const std::string what = error.what();
    EXPECT_NE(what.find("the operator's kernel could not be started"), std::string::npos) << what;
  }
  EXPECT_EQ(fold(coordinator, CarelessFold{.begins_too_many = false}, open(source_)).value, 64);
}

}  // namespace
}  // namespace ooc
