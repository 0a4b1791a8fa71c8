// Tests passes with invalid kernels. After an invalid access the GPU is lost to the process, so
// such a test runs in its own process, which is killed if it hangs.

#include <ooc/error.hpp>
#include <ooc/fold.hpp>
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

namespace ooc::detail {
namespace {

constexpr unsigned patience_seconds = 60;  // includes the start of CUDA
constexpr int expected_error = 8, other_error = 1;

__global__ void write_nowhere(std::uint64_t address) {
  *reinterpret_cast<volatile int*>(address) = 1;
}

void lose_gpu(Stream& stream) {
  write_nowhere<<<1, 1, 0, static_cast<cudaStream_t>(stream.native())>>>(64);
}

/// Loses the GPU in the middle of a pass, with copies and kernels of two streams in flight.
struct LosingFold {
  using Input = std::uint8_t;
  using Partial = int;
  static constexpr Merge merge_order = Merge::unordered;

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

/// Launches a kernel with more threads than a block can have, and does not check the launch.
struct CarelessFold {
  using Input = std::uint8_t;
  using Partial = int;
  static constexpr Merge merge_order = Merge::unordered;
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

  /// Calls `run` with a coordinator and ends the process as a program should: it prints the error
  /// and destroys all objects of the library, but nothing of CUDA.
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

  std::optional<test::TempDir> dir_{std::in_place};  // one for each process
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

// A later pass fails with the same error, at once.
TEST_F(LostGpuCudaTest, IsLostForTheNextPass) {
  const auto run = [this](Coordinator& on) {
    EXPECT_THROW(fold(on, LosingFold{}, open(source_)), Error);
    fold(on, LosingFold{}, open(source_));
  };
  EXPECT_EXIT(lose_gpu_in(run), testing::ExitedWithCode(expected_error), lost);
}

// A kernel that does not start leaves the GPU usable, but its result would be missing.
TEST_F(LostGpuCudaTest, IsNotLostToAKernelThatDoesNotBegin) {
  Coordinator coordinator(make_device(DeviceKind::cuda), {.chunk_bytes = 65536});
  try {
    fold(coordinator, CarelessFold{.begins_too_many = true}, open(source_));
    ADD_FAILURE() << "the failed launch went unnoticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    const std::string what = error.what();
    EXPECT_NE(what.find("the operator's kernel could not be started"), std::string::npos) << what;
  }
  EXPECT_EQ(fold(coordinator, CarelessFold{.begins_too_many = false}, open(source_)).value, 64);
}

}  // namespace
}  // namespace ooc::detail
