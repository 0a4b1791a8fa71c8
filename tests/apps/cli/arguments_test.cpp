#include "cli/arguments.hpp"

#include <gtest/gtest.h>
#include <ooc/error.hpp>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/sizes.hpp"

namespace ooc_run {
namespace {

/// Sets an environment variable; the destructor removes it.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

Arguments parse(const std::vector<std::string>& words, const char* command = "histogram") {
  return Arguments(find_command(command), words);
}

struct Refusal {
  std::string message, hint;
};

Refusal refusal(auto action) {
  try {
    action();
  } catch (const ooc::Error& error) {
    EXPECT_EQ(error.kind(), ooc::ErrorKind::usage);
    return {error.what(), error.details().hint};
  }
  return {"accepted", ""};
}

TEST(Arguments, OptionsAndFilesInAnyOrder) {
  const Arguments arguments =
      parse({"a.f32", "--chunk", "16M", "b.f32", "--bins=64", "--json", "--range", "-1:2"});
  EXPECT_EQ(std::vector<std::string>(arguments.files().begin(), arguments.files().end()),
            (std::vector<std::string>{"a.f32", "b.f32"}));
  EXPECT_EQ(arguments.get("chunk", parse_bytes), 16u << 20);
  EXPECT_EQ(arguments.get("bins", parse_count), 64u);
  EXPECT_EQ(arguments.get("streams", parse_count), std::nullopt);
  const auto text = [](const std::string& value) { return value; };
  EXPECT_EQ(arguments.get("range", text), "-1:2");
  EXPECT_TRUE(arguments.has("json"));
  EXPECT_FALSE(arguments.has("quiet"));
}

TEST(Arguments, WhatFollowsTwoDashesIsAFile) {
  const Arguments arguments = parse({"--", "--json", "-"});
  ASSERT_EQ(arguments.files().size(), 2u);
  EXPECT_EQ(arguments.files()[0], "--json");
  EXPECT_FALSE(arguments.has("json"));
}

TEST(Arguments, UnknownOptionsGetTheNearest) {
  const Refusal mistyped = refusal([] { parse({"--bisn", "3", "x"}); });
  EXPECT_EQ(mistyped.message, "unknown option '--bisn'");
  EXPECT_EQ(mistyped.hint, "did you mean --bins?");
  const Refusal shortened = refusal([] { parse({"--chun=3", "x"}); });
  EXPECT_EQ(shortened.message, "unknown option '--chun'");
  EXPECT_EQ(shortened.hint, "did you mean --chunk?");
  const Refusal foreign = refusal([] { parse({"--edges", "1,2", "x"}, "reduce"); });
  EXPECT_EQ(foreign.hint, "--edges is an option of 'ooc-run histogram' and 'ooc-run split'");
  const Refusal strange = refusal([] { parse({"--qwertyuiop", "x"}); });
  EXPECT_EQ(strange.hint, "ooc-run histogram -h lists the options");
  const Refusal letter = refusal([] { parse({"-x", "x"}); });
  EXPECT_EQ(letter.message, "unknown option '-x'");
}

TEST(Arguments, MistakesAreNamed) {
  EXPECT_EQ(refusal([] { parse({"x", "--bins"}); }).message, "--bins needs a value");
  EXPECT_EQ(refusal([] { parse({"x", "--bins", "--json"}); }).message, "--bins needs a value");
  EXPECT_EQ(refusal([] { parse({"x", "--bins="}); }).message, "--bins needs a value");
  EXPECT_EQ(refusal([] {
              parse({"x", "--bins", "1", "--bins", "2"});
            }).message,
            "--bins was given twice");
  EXPECT_EQ(refusal([] { parse({"--json"}); }).message, "no file given");
  EXPECT_EQ(refusal([] { parse({"x"}, "gen"); }).message, "unexpected argument 'x'");
  EXPECT_EQ(refusal([] { parse({"x", ""}, "reduce"); }).message, "a file's name is empty");
  EXPECT_NE(refusal([] { parse({"x", "--json=1"}); }).message, "accepted");
  EXPECT_EQ(refusal([] { parse({"x", "--json="}); }).message, "--json takes no value");
}

TEST(Arguments, ValuesAreRefusedByTheNameOfTheOption) {
  const Refusal refused = refusal([] { parse({"x", "--chunk", "12q"}).get("chunk", parse_bytes); });
  EXPECT_EQ(refused.message, "--chunk 12q: has no unit named 'q'");
  EXPECT_NE(refused.hint, "");
}

TEST(Arguments, MisspeltVariablesAreFound) {
  EXPECT_EQ(misspelt_variables(), std::vector<std::string>{});
  const Variable of_another_command("OOC_SHAPE_A", "2x2");
  const Variable of_others("OOC_NO_CUDA", "1"), like_runs("OOC_RUN", "1"), a_part("OOC_SHAPE", "1");
  EXPECT_EQ(misspelt_variables(), std::vector<std::string>{});
  const Variable misspelt("OOC_CHNUK", "4M");
  EXPECT_EQ(misspelt_variables(),
            std::vector<std::string>{"OOC_CHNUK is no option: did you mean OOC_CHUNK?"});
}

TEST(Arguments, EnvironmentStandsInForTheCommandLine) {
  const Variable chunk("OOC_CHUNK", "4M");
  const Variable log_bins("OOC_LOG_BINS", "yes");
  const Variable quiet("OOC_QUIET", "0");
  EXPECT_EQ(parse({"x"}).get("chunk", parse_bytes), 4u << 20);
  EXPECT_EQ(parse({"x", "--chunk", "8M"}).get("chunk", parse_bytes), 8u << 20);
  EXPECT_TRUE(parse({"x"}).has("log-bins"));
  EXPECT_FALSE(parse({"x"}).has("quiet"));
}

TEST(Arguments, EnvironmentIsRefusedByItsName) {
  const Variable chunk("OOC_CHUNK", "4Q");
  EXPECT_EQ(refusal([] { parse({"x"}).get("chunk", parse_bytes); }).message,
            "OOC_CHUNK=4Q: has no unit named 'Q'");
  const Variable json("OOC_JSON", "maybe");
  EXPECT_EQ(refusal([] { parse({"x"}); }).message,
            "OOC_JSON=maybe: is neither 1, yes, true or on, nor 0, no, false or off");
}

TEST(Arguments, ChoicesAndPositiveNumbers) {
  EXPECT_EQ(choose(engine_names, std::array{1, 2, 3}, "threads"), 3);
  EXPECT_EQ(refusal([] { index_among(engine_names, "thread"); }).hint,
            "did you mean threads? One of auto, uring or threads");
  EXPECT_EQ(refusal([] { index_among(engine_names, "posix"); }).hint,
            "one of auto, uring or threads");
  EXPECT_EQ(refusal([] { positive_count("0"); }).message, "must be at least 1");
  EXPECT_EQ(positive_bytes("1K"), 1024u);
}

TEST(Arguments, OfOptionsThatExcludeEachOtherTheCommandLineWins) {
  const auto text = [](const std::string& value) { return value; };
  EXPECT_EQ(refusal([] {
              parse({"x", "--range", "0:1", "--edges", "0,1"});
            }).message,
            "--edges and --range exclude each other");
  const Variable bins("OOC_BINS", "7");
  EXPECT_FALSE(parse({"x", "--edges", "0,1"}).has("bins"));
  EXPECT_EQ(parse({"x", "--range", "0:1"}).get("bins", text), "7");
  const Variable edges("OOC_EDGES", "0,1,2");
  EXPECT_FALSE(parse({"x", "--range", "0:1"}).has("edges"));
  EXPECT_EQ(refusal([] { parse({"x"}); }).message, "OOC_EDGES and OOC_BINS exclude each other");
}

TEST(Arguments, WhatNeedsAnotherOptionIsRefusedAsAWordAndIgnoredAsAVariable) {
  const Refusal refused = refusal([] { parse({"x", "--range", "0:1"}, "reduce"); });
  EXPECT_EQ(refused.message, "--range needs --histogram");
  EXPECT_EQ(refused.hint, "--histogram N: also count in N bins, in the same pass");
  const Variable range("OOC_RANGE", "0:1");
  EXPECT_FALSE(parse({"x"}, "reduce").has("range"));
  EXPECT_TRUE(parse({"x", "--histogram", "8"}, "reduce").has("range"));
}

TEST(Arguments, AnEmptyVariableIsNotSet) {
  const Variable chunk("OOC_CHUNK", "");
  EXPECT_FALSE(parse({"x"}).has("chunk"));
}

}  // namespace
}  // namespace ooc_run
