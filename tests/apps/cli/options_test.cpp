#include "cli/options.hpp"

#include <gtest/gtest.h>
#include <ooc/dtype.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

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

// Bash completion knows an option by its name, not by its command.
TEST(Options, OfOneNameTakeTheSameValuesInAllCommands) {
  std::map<std::string_view, Option> known;
  for (const Command& command : commands()) {
    for (const Option& option : options_of(command)) {
      const Option& first = known.emplace(option.name, option).first->second;
      EXPECT_EQ(option.argument, first.argument) << option.name;
      EXPECT_EQ(option.letter, first.letter) << option.name;
      EXPECT_TRUE(std::ranges::equal(option.values, first.values)) << option.name;
    }
  }
}

// A name that is misspelt there would be one that no command line has.
TEST(Options, NameOptionsAndCommandsThatExist) {
  std::set<std::string, std::less<>> names, names_of_commands;
  for (const Command& command : commands()) {
    names_of_commands.emplace(command.name);
    for (const Option& option : options_of(command)) names.emplace(option.name);
  }
  for (const Command& command : commands()) {
    for (const Option& option : options_of(command)) {
      for (const std::string_view words : {option.excludes, option.needs}) {
        std::istringstream stream{std::string(words)};
        for (std::string word; stream >> word;) EXPECT_TRUE(names.contains(word)) << word;
      }
      std::istringstream stream{std::string(option.commands)};
      for (std::string word; stream >> word;) EXPECT_TRUE(names_of_commands.contains(word)) << word;
      EXPECT_EQ(option.excludes.empty(), option.because.empty()) << option.name;
    }
  }
}

TEST(Options, WordsAreFoundWhole) {
  EXPECT_TRUE(has_word("bins range", "bins"));
  EXPECT_TRUE(has_word("bins range", "range"));
  EXPECT_FALSE(has_word("log-bins range", "bins"));
  EXPECT_FALSE(has_word("bins range", "rang"));
  EXPECT_FALSE(has_word("", ""));
}

TEST(Options, HelpNamesTheValues) {
  const Option option{"size", "S", "one of {} [small]", picture_endings};
  EXPECT_EQ(help_of(option), "one of .svg, .png [small]");
  EXPECT_EQ(help_of(Option{"size", "S", "as it is"}), "as it is");
}

TEST(Options, TypesAreThoseThatAreKnown) {
  for (const Command& command : commands()) {
    for (const Option& option : options_of(command)) {
      if (option.name != "dtype" && option.name != "to") continue;
      for (const std::string_view value : option.values) EXPECT_NO_THROW(ooc::parse_dtype(value));
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
      EXPECT_EQ(error.kind(), ooc::ErrorKind::usage);
    }
  }
}

}  // namespace
}  // namespace ooc_run
