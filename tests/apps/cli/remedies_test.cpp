#include "cli/remedies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "cli/options.hpp"

namespace ooc_run {
namespace {

using ooc::ErrorKind;
using ooc::RemedyAction;

std::string hint_of(const ooc::ErrorDetails& details, std::string_view command = {}) {
  return in_terms_of_options({ErrorKind::usage, "it failed", details}, command).details().hint;
}

TEST(Remedies, NameTheLeastThatIsEnoughAsTheOptionTakesIt) {
  const auto hint = [](const std::string& bytes) {
    return hint_of({.remedies = {{RemedyAction::raise, "Options::memory_bytes", bytes},
                                 {RemedyAction::lower, "Options::streams"}}});
  };
  EXPECT_EQ(hint("270336"), "use --memory 264K at least, or lower --streams");
  EXPECT_EQ(hint("270337"), "use --memory 265K at least, or lower --streams");
  EXPECT_EQ(hint("1"), "use --memory 1K at least, or lower --streams");
  EXPECT_EQ(hint("29626420"), "use --memory 29M at least, or lower --streams");
  EXPECT_EQ(hint("1099511627777"), "use --memory 1025G at least, or lower --streams");
}

TEST(Remedies, NameOptionsOfSettings) {
  EXPECT_EQ(hint_of({.remedies = {{RemedyAction::raise, "Options::memory_bytes"},
                                  {RemedyAction::lower, "Options::chunk_bytes"},
                                  {RemedyAction::lower, "Options::streams"}}}),
            "raise --memory, or lower --chunk or --streams");
  EXPECT_EQ(hint_of({.hint = "choose a wider type",
                     .remedies = {{RemedyAction::unset, "ConvertOptions::strict"}}}),
            "choose a wider type, or leave out --strict");
  EXPECT_EQ(hint_of({.remedies = {{RemedyAction::set, "MatmulOptions::precision", "f32"},
                                  {RemedyAction::set, "Device::kind", "cuda"}}}),
            "use --compute f32 or --device cuda");
}

TEST(Remedies, WithoutAValueShowWhatAnOptionTakes) {
  EXPECT_EQ(hint_of({.remedies = {{RemedyAction::set, "Format::type"},
                                  {RemedyAction::set, "HistogramOptions::range"},
                                  {RemedyAction::set, "Target::replace"}}}),
            "use --dtype D, --range LO:HI or --force");
}

TEST(Remedies, QuoteWhatAShellWouldRead) {
  EXPECT_EQ(hint_of({.path = "a b.f8",
                     .remedies = {{RemedyAction::set, "Format::type", "<f4"},
                                  {.change = RemedyAction::convert, .value = "<f4"}}}),
            "use --dtype '<f4', or convert it: ooc-run convert 'a b.f8' -o OUT --to '<f4'");
}

TEST(Remedies, AreThoseThatTheCommandKnows) {
  const ooc::ErrorDetails details{.remedies = {{RemedyAction::lower, "HistogramOptions::bins"},
                                               {RemedyAction::set, "HistogramOptions::range"}}};
  EXPECT_EQ(hint_of(details, "histogram"), "lower --bins, or use --range LO:HI");
  EXPECT_EQ(hint_of(details, "reduce"), "lower --histogram, or use --range LO:HI");
  EXPECT_EQ(hint_of(details, "convert"), "");
  EXPECT_EQ(hint_of({.hint = "wait", .remedies = {{RemedyAction::raise, "Options::memory_bytes"}}},
                    "gen"),
            "wait");
}

TEST(Remedies, KeepAnyOtherHint) {
  EXPECT_EQ(hint_of({}), "");
  EXPECT_EQ(hint_of({.hint = "give the lower end first"}), "give the lower end first");
}

TEST(Remedies, KeepTheRestOfTheError) {
  const ooc::Error error(ErrorKind::memory, "too little",
                         {.path = "x.npy",
                          .offset = 7,
                          .errno_value = ENOMEM,
                          .why = "there is a limit",
                          .remedies = {{RemedyAction::raise, "Options::memory_bytes"}}});
  const ooc::Error translated = in_terms_of_options(in_terms_of_options(error));  // once suffices
  EXPECT_EQ(translated.kind(), ErrorKind::memory);
  EXPECT_STREQ(translated.what(), "too little");
  EXPECT_EQ(translated.details().path, "x.npy");
  EXPECT_EQ(translated.details().offset, 7u);
  EXPECT_EQ(translated.details().errno_value, ENOMEM);
  EXPECT_EQ(translated.details().why, error.details().why);
  EXPECT_EQ(translated.details().hint, "raise --memory");
  EXPECT_TRUE(translated.details().remedies.empty());
}

}  // namespace
}  // namespace ooc_run
