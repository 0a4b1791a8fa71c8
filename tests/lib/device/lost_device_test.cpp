// After an invalid access of a kernel every call of a GPU fails. Tests that a pass then ends
// without further calls.

#include <ooc/error.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "support/late_device.hpp"
#include "support/operators.hpp"
#include "support/temp_dir.hpp"
#include "support/wrapped_device.hpp"

namespace ooc::detail {
namespace {

using test::chunk_bytes;
using test::Copy;
using test::DeviceCall;

class LostDeviceTest : public testing::Test {
 protected:
  static constexpr std::size_t streams_ = 2;

  /// Runs `pass` with the device lost at each of its calls. Each of the two lanes may see the error
  /// twice: at a call, and when it waits for its work in flight.
  static void expect_no_more_than_is_told(const std::function<void(Coordinator&)>& pass) {
    bool has_been_lost = true;
    for (std::size_t nth = 0; has_been_lost; ++nth) {
      SCOPED_TRACE(nth);
      std::atomic<std::size_t> calls{0}, refused{0};
      const auto lose = [&](DeviceCall call) {
        if (call == DeviceCall::host_memory || calls++ < nth) return;
        ++refused;
        throw Error(ErrorKind::device, "the GPU is lost");
      };
      Coordinator coordinator(
          std::make_unique<test::WrappedDevice>(std::make_unique<test::LateDevice>(), lose),
          {.chunk_bytes = chunk_bytes, .streams = streams_});
      try {
        pass(coordinator);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::device);
      }
      has_been_lost = refused != 0;
      EXPECT_LE(refused, 2 * streams_);
    }
  }

  test::TempDir dir_;
  std::filesystem::path source_ = dir_.write("in.u8", test::random_bytes(7 * chunk_bytes, 1));
};

TEST_F(LostDeviceTest, IsNotAskedAgainByAFold) {
  expect_no_more_than_is_told(
      [this](Coordinator& on) { fold(on, test::Count<>{}, open(source_)); });
}

TEST_F(LostDeviceTest, IsNotAskedAgainByAMap) {
  expect_no_more_than_is_told([this](Coordinator& on) {
    map(on, Copy{}, open(source_),
        {.path = dir_.path() / "out.u8", .type = {ElementType::u1}, .replace = true});
  });
}

// A kernel that failed to start has computed nothing, which must not go unnoticed.
TEST_F(LostDeviceTest, IsAskedWhetherKernelsHaveBegunAfterAllThatAnOperatorDoes) {
  std::atomic<std::size_t> asked{0};
  const auto count = [&](DeviceCall call) { asked += call == DeviceCall::launch; };
  Coordinator coordinator(
      std::make_unique<test::WrappedDevice>(std::make_unique<test::LateDevice>(), count),
      {.chunk_bytes = chunk_bytes, .streams = streams_});
  const std::uint64_t chunks =
      fold(coordinator, test::Count<>{}, open(source_)).stats.layout.chunks;
  EXPECT_EQ(asked, chunks + 2 * streams_);
}

}  // namespace
}  // namespace ooc::detail
