#include "cli/remedies.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace ooc_run {
namespace {

using ooc::ErrorKind;

std::string hint_for(const std::string& hint, const std::string& path = {}) {
  return in_terms_of_options({ErrorKind::usage, "it failed", {.path = path, .hint = hint}})
      .details()
      .hint;
}

TEST(Remedies, NameOptionsInsteadOfFields) {
  EXPECT_EQ(hint_for("raise Options::memory_bytes"), "raise --memory");
  EXPECT_EQ(hint_for("allow more device memory (Options::device_bytes)"),
            "allow more device memory (--vram)");
  EXPECT_EQ(hint_for("raise the limit (ulimit -v), or lower Options::threads"),
            "raise the limit (ulimit -v), or lower --threads");
  EXPECT_EQ(hint_for("choose a wider type, or allow it: unset ConvertOptions::strict"),
            "choose a wider type, or allow it: leave out --strict");
  EXPECT_EQ(hint_for("set MatmulOptions::precision to f32, or compute on a GPU"),
            "--compute f32 works here; --device cuda needs a GPU");
}

TEST(Remedies, ReplaceEveryPhraseOfAHint) {
  EXPECT_EQ(
      hint_for("check the element type (Format::type), or give a range (HistogramOptions::range)"),
      "check the element type (--dtype), or give a range (--range LOWER:UPPER)");
  EXPECT_EQ(hint_for("convert it first: ooc::convert() to f4; or set Format::type to what a raw "
                     "file holds",
                     "a b.f8"),
            "convert it first: ooc-run convert 'a b.f8' -o OUT --to f4; or say with --dtype what a "
            "raw file holds");
}

TEST(Remedies, KeepAnyOtherHint) {
  EXPECT_EQ(hint_for(""), "");
  EXPECT_EQ(hint_for("give the lower end first"), "give the lower end first");
}

TEST(Remedies, KeepTheRestOfTheError) {
  const ooc::Error error(ErrorKind::memory, "too little",
                         {.path = "x.npy",
                          .offset = 7,
                          .errno_value = ENOMEM,
                          .why = "a limit of Options::memory_bytes",
                          .hint = "raise Options::memory_bytes"});
  const ooc::Error translated = in_terms_of_options(error);
  EXPECT_EQ(translated.kind(), ErrorKind::memory);
  EXPECT_STREQ(translated.what(), "too little");
  EXPECT_EQ(translated.details().path, "x.npy");
  EXPECT_EQ(translated.details().offset, 7u);
  EXPECT_EQ(translated.details().errno_value, ENOMEM);
  EXPECT_EQ(translated.details().why, error.details().why);
}

}  // namespace
}  // namespace ooc_run
