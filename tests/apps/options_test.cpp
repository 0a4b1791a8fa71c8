#include "options.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <ooc/io/error.hpp>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace ooc_run {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Options, NamesAreUniqueWithinACommand) {
  for (const Command& command : commands()) {
    std::set<std::string_view> names;
    std::set<char> letters;
    for (const Option& option : options_of(command)) {
      EXPECT_TRUE(names.insert(option.name).second) << command.name << " --" << option.name;
      EXPECT_NE(option.letter, 'h');
      if (option.letter == 0) continue;
      EXPECT_TRUE(letters.insert(option.letter).second) << option.letter;
    }
  }
}

TEST(Options, ShortHelpFitsAScreen) {
  for (const Command& command : commands()) {
    const std::vector<std::string> lines = lines_of(short_help(command));
    EXPECT_LE(lines.size(), 24u) << command.name;
    for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
  }
  EXPECT_LE(lines_of(short_help()).size(), 24u);
}

TEST(Options, LongHelpBeginsWithThreeExamples) {
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

TEST(Options, HelpNamesEveryOption) {
  for (const Command& command : commands()) {
    for (const Option& option : options_of(command)) {
      const std::regex name(fmt::format("--{}[ \n]", option.name));
      EXPECT_TRUE(std::regex_search(short_help(command), name)) << option.name;
      const std::string help = fmt::format("--{} {}", option.name, option.argument);
      EXPECT_NE(long_help(command).find(help), std::string::npos) << help;
    }
  }
}

TEST(Options, EnvironmentNamesAreUpperCase) {
  EXPECT_EQ(environment_name("chunk"), "OOC_CHUNK");
  EXPECT_EQ(environment_name("log-bins"), "OOC_LOG_BINS");
}

TEST(Options, CommandsAreFoundByTheirWholeName) {
  EXPECT_EQ(find_command("histogram").name, "histogram");
  for (const char* wrong : {"hist", "histogarm", "", "mat", "--json"}) {
    try {
      find_command(wrong);
      FAIL() << wrong;
    } catch (const ooc::Error& error) {
      EXPECT_EQ(error.cause(), ooc::Cause::usage);
    }
  }
}

}  // namespace
}  // namespace ooc_run
