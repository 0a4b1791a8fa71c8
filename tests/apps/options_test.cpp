#include "options.hpp"

#include <gtest/gtest.h>
#include <ooc/io/error.hpp>

#include <set>
#include <string>

namespace ooc_run {
namespace {

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
