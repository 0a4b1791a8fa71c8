#include "cli/suggest.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace ooc_run {
namespace {

TEST(Suggest, NearestIsWhatWasMeant) {
  constexpr std::array<std::string_view, 4> names{"histogram", "reduce", "range", "log-bins"};
  EXPECT_EQ(nearest("histogarm", names), "histogram");
  EXPECT_EQ(nearest("hist", names), "histogram");
  EXPECT_EQ(nearest("reduse", names), "reduce");
  EXPECT_EQ(nearest("rnage", names), "range");
  EXPECT_EQ(nearest("logbins", names), "log-bins");
  EXPECT_EQ(nearest("matmul", names), "");
  EXPECT_EQ(nearest("x", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("x", std::array<std::string_view, 1>{"q"}), "");
  EXPECT_EQ(nearest("", std::array<std::string_view, 1>{"q"}), "");
}

TEST(Suggest, WhatOtherProgramsCallIt) {
  for (const char* name : {"stat", "describe", "cat"}) {
    EXPECT_NE(command_for(name).find("ooc-run reduce"), std::string_view::npos) << name;
    EXPECT_NE(command_for(name).find("ooc-run info"), std::string_view::npos) << name;
  }
  EXPECT_EQ(command_for("reduec"), "");
}

}  // namespace
}  // namespace ooc_run
