#include "rates/ceilings.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <ooc/error.hpp>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "machine/environment.hpp"
#include "support/temp_dir.hpp"

namespace ooc_run {
namespace {

/// Sets XDG_CACHE_HOME to an empty directory, and restores it at the end.
class CeilingsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* value = std::getenv("XDG_CACHE_HOME")) before_ = value;
    setenv("XDG_CACHE_HOME", directory_.path().c_str(), 1);
  }
  void TearDown() override {
    before_ ? setenv("XDG_CACHE_HOME", before_->c_str(), 1) : unsetenv("XDG_CACHE_HOME");
  }

  void put(const std::string& text) {
    std::filesystem::create_directories(ceilings_path().parent_path());
    std::ofstream(ceilings_path()) << text;
  }

  ooc::detail::test::TempDir directory_;
  CeilingsOf place_{directory_.path(), "cuda:0 GPU", "reduce f4"};
  MeasuredCeilings measured_{
      {.disk = 1e9, .page_cache = 2e9, .h2d = 3e9, .d2h = 4e9, .start_seconds = 0.4},
      {{"histogram u1", 5e9}, {"reduce f4", 6e9}}};
  std::optional<std::string> before_;
};

TEST_F(CeilingsTest, WhatIsWrittenIsRead) {
  EXPECT_EQ(read_ceilings(place_), Ceilings{});
  write_ceilings(place_, measured_);
  const Ceilings all{
      .disk = 1e9, .page_cache = 2e9, .h2d = 3e9, .d2h = 4e9, .kernel = 6e9, .start_seconds = 0.4};
  EXPECT_EQ(read_ceilings(place_), all);
  EXPECT_EQ(describe(all).size(), 6u);
  EXPECT_EQ(describe(Ceilings{}).dump(), "{}");
}

TEST_F(CeilingsTest, NothingElseIsLeftBesideIt) {
  write_ceilings(place_, measured_);
  const std::filesystem::directory_iterator files(directory_.path() / "ooc");
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(CeilingsTest, OthersAreForOtherDevicesAndFileSystems) {
  write_ceilings(place_, measured_);
  CeilingsOf other = place_;
  other.device = "cpu";
  EXPECT_EQ(read_ceilings(other), (Ceilings{.disk = 1e9, .page_cache = 2e9}));
  other = place_;
  other.file = "/proc/self/stat";
  other.kernel = "reduce f8";
  EXPECT_EQ(read_ceilings(other),
            (Ceilings{.page_cache = 2e9, .h2d = 3e9, .d2h = 4e9, .start_seconds = 0.4}));
}

TEST_F(CeilingsTest, ANewMeasurementTakesTheOldOnesPlace) {
  write_ceilings(place_, measured_);
  CeilingsOf other = place_;
  other.device = "cpu";
  write_ceilings(other, {{.page_cache = 7e9}, {{"reduce f4", 8e9}}});
  EXPECT_EQ(read_ceilings(other), (Ceilings{.disk = 1e9, .page_cache = 7e9, .kernel = 8e9}));
  EXPECT_EQ(read_ceilings(place_).h2d, 3e9);
  const auto json = nlohmann::json::parse(ooc::detail::test::read_whole(ceilings_path()));
  EXPECT_EQ(json["machines"].size(), 1u);
  EXPECT_EQ(json["devices"].size(), 2u);
  EXPECT_EQ(json["devices"][0]["date"], today());
}

TEST_F(CeilingsTest, TheFileDoesNotGrowForEver) {
  for (int i = 0; i < 110; ++i) {
    place_.device = "device " + std::to_string(i);
    write_ceilings(place_, measured_);
  }
  const auto json = nlohmann::json::parse(ooc::detail::test::read_whole(ceilings_path()));
  EXPECT_EQ(json["devices"].size(), 100u);
  EXPECT_EQ(read_ceilings(place_).h2d, 3e9);
}

TEST_F(CeilingsTest, WhatIsNotUnderstoodIsIgnoredAndReplaced) {
  for (const char* text :
       {"", "{", "[]", "null", "{\"schema\": 3}", "{\"schema\": \"ooc.ceilings/2\"}",
        "{\"schema\": \"ooc.ceilings/1\", \"disks\": 4, \"devices\": [1, null], \"machines\": {}}",
        "\xff\xfe"}) {
    put(text);
    EXPECT_EQ(read_ceilings(place_), Ceilings{}) << text;
    write_ceilings(place_, measured_);
    EXPECT_EQ(read_ceilings(place_).disk, 1e9) << text;
  }
}

TEST_F(CeilingsTest, RatesThatAreNoneAreIgnored) {
  write_ceilings(place_, measured_);
  const auto good = nlohmann::json::parse(ooc::detail::test::read_whole(ceilings_path()));
  for (const char* rate : {"-1", "0", "\"fast\"", "null", "[]"}) {
    auto json = good;
    json["disks"][0]["disk_bytes_per_second"] = nlohmann::json::parse(rate);
    json["devices"][0]["kernels_bytes_per_second"] = 4;
    put(json.dump());
    const Ceilings read = read_ceilings(place_);
    EXPECT_EQ(read.disk, std::nullopt) << rate;
    EXPECT_EQ(read.kernel, std::nullopt);
    EXPECT_EQ(read.page_cache, 2e9);
  }
}

TEST_F(CeilingsTest, WhatIsNoFileIsNotWaitedFor) {
  std::filesystem::create_directories(ceilings_path().parent_path());
  ASSERT_EQ(mkfifo(ceilings_path().c_str(), 0600), 0);
  EXPECT_EQ(read_ceilings(place_), Ceilings{});
}

TEST_F(CeilingsTest, AnUnusablePlaceIsAnErrorOfTheWriterOnly) {
  const auto file = directory_.write("file", "");
  setenv("XDG_CACHE_HOME", file.c_str(), 1);
  EXPECT_EQ(read_ceilings(place_), Ceilings{});
  try {
    write_ceilings(place_, measured_);
    FAIL();
  } catch (const ooc::Error& error) {
    EXPECT_EQ(error.kind(), ooc::ErrorKind::output);
  }
}

TEST_F(CeilingsTest, ARelativePlaceIsIgnored) {
  setenv("XDG_CACHE_HOME", "somewhere", 1);
  const std::string home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
  setenv("HOME", "/nowhere", 1);
  EXPECT_EQ(ceilings_path(), "/nowhere/.cache/ooc/ceilings.json");
  unsetenv("HOME");
  EXPECT_EQ(ceilings_path(), "");
  EXPECT_EQ(read_ceilings(place_), Ceilings{});
  if (!home.empty()) setenv("HOME", home.c_str(), 1);
}

TEST(KernelName, IsThatOfTheCommandAndTheType) {
  EXPECT_EQ(kernel_name("histogram", "|u1"), "histogram u1");
  EXPECT_EQ(kernel_name("reduce", "<f4"), "reduce f4");
  EXPECT_EQ(kernel_name("reduce", ">f4"), "");
  EXPECT_EQ(kernel_name("matmul", ""), "");
}

TEST(Environment, KnowsWhereFilesLie) {
  EXPECT_FALSE(file_system_of("/").empty());
  EXPECT_EQ(file_system_of("/nowhere/at/all"), "");
  EXPECT_EQ(file_system_of("/proc/self/stat").substr(0, 4), "proc");
  EXPECT_FALSE(is_tmpfs("/proc/self/stat"));
  EXPECT_EQ(today().size(), 10u);
}

}  // namespace
}  // namespace ooc_run
