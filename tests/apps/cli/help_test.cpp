#include "cli/help.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace ooc_run {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Help, ShortFitsAScreen) {
  for (const Command& command : commands()) {
    const std::vector<std::string> lines = lines_of(short_help(command));
    EXPECT_LE(lines.size(), 24u) << command.name;
    EXPECT_LE(std::ranges::count_if(options_of(command), std::not_fn(&Option::rare)), 14)
        << command.name;
    for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
  }
  EXPECT_LE(lines_of(short_help()).size(), 24u);
}

TEST(Help, LongBeginsWithThreeExamples) {
  for (const Command& command : commands()) {
    const std::vector<std::string> lines = lines_of(long_help(command));
    ASSERT_GT(lines.size(), 4u);
    EXPECT_EQ(lines[0], "Examples:");
    for (int i = 1; i <= 3; ++i) {
      EXPECT_EQ(lines[i].rfind("  ooc-run " + std::string(command.name) + " ", 0), 0u) << lines[i];
    }
    for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST(Help, OfTuningHasEachRareOptionOnce) {
  const std::vector<std::string> lines = lines_of(tuning_help());
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
  std::set<std::string> seen;
  std::string section;
  for (const std::string& line : lines) {
    if (line.ends_with(":")) section = line;
    if (line.find("--") == std::string::npos) continue;
    EXPECT_TRUE(seen.insert(section + line.substr(line.find("--"))).second) << line;
  }
  EXPECT_NE(tuning_help().find("\nall but merge bench doctor gen:\n"), std::string::npos);
}

TEST(Help, WhatAllCommandsHaveInCommonIsSaidOnce) {
  EXPECT_NE(long_help().find("Exit codes:"), std::string::npos);
  for (const Command& command : commands()) {
    EXPECT_EQ(long_help(command).find("Exit codes:"), std::string::npos);
    EXPECT_NE(long_help(command).find("exit codes: ooc-run help"), std::string::npos);
  }
}

TEST(Help, NamesEveryOption) {
  for (const Command& command : commands()) {
    for (const Option& option : options_of(command)) {
      const std::string name = fmt::format("--{}", option.name);
      const std::string brief = short_help(command);
      const auto is_there = [&](char behind) {
        return brief.find(name + behind) != std::string::npos;
      };
      EXPECT_TRUE(is_there(' ') || is_there('\n')) << option.name;
      const std::string help = fmt::format("--{} {}", option.name, option.argument);
      const std::string where = option.rare ? tuning_help() : long_help(command);
      EXPECT_NE(where.find(help), std::string::npos) << help;
    }
  }
}

}  // namespace
}  // namespace ooc_run
