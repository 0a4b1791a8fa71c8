#include "base/helper_program.hpp"

#include <ooc/error.hpp>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "io/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;

class HelperProgramTest : public testing::Test {
 protected:
  HelperRun run(const std::string& script, const HelperLimits& limits = {}) {
    const std::filesystem::path program =
        directory_.write("helper", test::bytes_of("#!/bin/sh\n" + script + "\n"));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return run_helper(program, "an argument", limits);
  }

  test::TempDir directory_;
};

TEST_F(HelperProgramTest, ReturnsWhatIsPrinted) {
  const HelperRun found = run("echo \"$# $1 $LANG $HOME\"; cat; echo complaint >&2");
  EXPECT_EQ(found.failure, "");
  EXPECT_EQ(found.output.substr(0, 14), "1 an argument ");
  EXPECT_EQ(found.output.find(directory_.path().string()), std::string::npos);
  EXPECT_EQ(found.complaint, "complaint");
}

TEST_F(HelperProgramTest, SaysHowItFailed) {
  EXPECT_EQ(run("echo table; exit 3").failure, "it ended with exit code 3");
  EXPECT_EQ(run("echo table; kill -9 $$").failure, "signal 9 ended it");
  EXPECT_EQ(run("true").failure, "it printed nothing");
  EXPECT_EQ(run("echo table; exit 3").output, "");
}

TEST_F(HelperProgramTest, IsLimited) {
  const HelperRun endless = run("while :; do echo 0123456789; done", {.output_bytes = 100'000});
  EXPECT_EQ(endless.failure, "it printed more than 100000 bytes");
  const auto began = std::chrono::steady_clock::now();
  const HelperRun hanging = run("sleep 100", {.time = std::chrono::milliseconds(1500)});
  EXPECT_EQ(hanging.failure, "it took more than 1 s");
  const HelperRun busy = run("while :; do :; done", {.time = std::chrono::milliseconds(100)});
  EXPECT_EQ(busy.failure, "it took more than 0 s");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
  EXPECT_EQ(run("sleep 0.1; ulimit -v", {.memory_bytes = 512 * MiB}).output, "524288\n");
}

TEST_F(HelperProgramTest, LeavesNoProcessBehind) {
  const std::filesystem::path late = directory_.path() / "late";
  const HelperRun found = run("(sleep 1; touch " + late.string() + ") & echo table");
  EXPECT_EQ(found.output, "table\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_FALSE(std::filesystem::exists(late));
}

TEST_F(HelperProgramTest, ThatCannotBeStarted) {
  expect_error(ErrorKind::input, "No such file",
               [&] { run_helper(directory_.path() / "none", ""); });
}

TEST_F(HelperProgramTest, IsFoundByItsVariable) {
  EXPECT_EQ(find_helper("ooc-no-such-helper", "OOC_NO_SUCH_HELPER"), "");
  ::setenv("OOC_NO_SUCH_HELPER", "/somewhere/else", 1);
  EXPECT_EQ(find_helper("ooc-no-such-helper", "OOC_NO_SUCH_HELPER"), "/somewhere/else");
  ::unsetenv("OOC_NO_SUCH_HELPER");
}

}  // namespace
}  // namespace ooc::detail
