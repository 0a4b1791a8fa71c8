#include "run/unfinished_start.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "lib/pass/team_fixture.hpp"

namespace ooc_run {
namespace {

/// Returns a coordinator of a device that starts, and of the CPU.
std::unique_ptr<ooc::Coordinator> coordinator(bool has_started) {
  auto device = std::make_unique<ooc::detail::test::StartingDevice>();
  *device->start() = has_started;
  return std::make_unique<ooc::Coordinator>(
      ooc::detail::test::devices(std::move(device), ooc::detail::test::cpu()));
}

TEST(UnfinishedStart, OfADeviceThatHasStartedThereIsNone) {
  destroy_unless_starting(coordinator(true));
  EXPECT_EQ(end_unless_finished(3), 3);
}

TEST(UnfinishedStart, EndsTheProcessAtOnce) {
  const auto end = [] {
    destroy_unless_starting(coordinator(false));
    end_unless_finished(3);
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace ooc_run
