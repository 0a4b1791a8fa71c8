#include <ooc/detail/http/secrets.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

struct Form {
  const char* word;
  const char* shown;
};

// All forms that are hidden, and those beside them that are not.
constexpr Form forms[] = {
    // Addresses.
    {"https://h/x?signature=PW", "https://h/x"},
    {"https://h/x#PW", "https://h/x"},
    {"https://h:8443/a/b.f32?X-Amz-Signature=PW#part", "https://h:8443/a/b.f32"},
    {"https://user@h/x", "https://h/x"},
    {"https://user:PW@h/x", "https://h/x"},
    {"https://user:PW@h:80/x?PW", "https://h:80/x"},
    {"https://user:a/PW@h/x", "https://h/x"},
    {"https://user:a?PW@h/x", "https://h/x"},
    {"https://user:a#PW@h/x", "https://h/x"},
    {"https://user:a@PW@h/x", "https://h/x"},
    {"https://user:1/PW@h/x", "https://h/x"},
    {"https://h:80/me@x", "https://x"},  // a port and a path, but maybe a user and a password
    {"http://us/er:PW@h", "http://h"},
    {"http://us/er:P?PW@h", "http://us/er"},
    {"ftp://user:PW@h/x?PW", "ftp://h/x"},
    {"webdav+https://user:PW@h/x", "webdav+https://h/x"},
    {"h-t://user:PW@h/x", "h-t://h/x"},
    {"s3://KEY:PW@bucket/x", "s3://bucket/x"},
    {"s3://bucket/x?X-Amz-Signature=PW", "s3://bucket/x"},
    {"HTTP://user:PW@h/x", "HTTP://h/x"},
    // Words that are not quite addresses.
    {"http:/user:PW@h/x", "http:/h/x"},
    {"http:///user:PW@h/x", "http:///h/x"},
    {"http:user:PW@h", "http:h"},
    {"//user:PW@h/x", "//h/x"},
    {"//user:PW@", "//"},
    {"url=http://user:PW@h/x", "url=http://h/x"},
    {"url=//user:PW@h/x", "url=//h/x"},
    {"./http://user:PW@h/x", "./http://h/x"},
    {"OOC_OUTPUT=http://user:PW@h/x", "OOC_OUTPUT=http://h/x"},
    {"OOC_RESUME=http:/h/x?PW", "OOC_RESUME=http:/h/x"},
    {"--output=user:PW@h/x", "--output=user:***@h/x"},
    {"user:PW@h/x", "user:***@h/x"},
    // Nothing of these is secret.
    {"https://h/x", "https://h/x"},
    {"https://h/me@x", "https://h/me@x"},
    {"https://h:80/x?me@PW", "https://h:80/x"},
    {"https://[::1]:80/x", "https://[::1]:80/x"},
    {"https://HOST:PORT", "https://HOST:PORT"},
    {"s3://bucket/a?b#c", "s3://bucket/a?b#c"},
    {"/data/run:7/x.f32", "/data/run:7/x.f32"},
    {"me@example.org", "me@example.org"},
    {"a@b:c", "a@b:c"},
    {"what?", "what?"},
    {"12:30", "12:30"},
    {"x.f32", "x.f32"},
    {"", ""},
};

TEST(Secrets, AreHiddenInAllForms) {
  for (const auto& [word, shown] : forms) {
    EXPECT_EQ(shown_address(word), shown) << word;
    EXPECT_EQ(shown_address(shown), shown) << word;  // again
  }
}

TEST(Secrets, AreHiddenInATextAroundThem) {
  for (const auto& [word, shown] : forms) {
    for (const auto& [before, after] : {std::pair{"", ""},
                                        {"'", "' is"},
                                        {"(", "), 1"},
                                        {"see ", ": open failed"},
                                        {"two\nlines \"", "\""}}) {
      EXPECT_EQ(without_secrets(before + std::string(word) + after),
                before + std::string(shown) + after)
          << word;
    }
  }
  EXPECT_EQ(without_secrets("http://a:PW@h/x or http://b:PW@h/y?PW"), "http://h/x or http://h/y");
  EXPECT_EQ(without_secrets("see http://a:PW and PW@h/x: no"), "see http://h/x: no");
  EXPECT_EQ(without_secrets("see http://HOST:PORT 'a@b'"), "see http://HOST:PORT 'a@b'");
}

TEST(Secrets, AreNotInNamesOfFilesThatExist) {
  const test::TempDir directory;
  const std::string file = directory.write("a:b@c.f32", "x");
  EXPECT_EQ(shown_word(file), file);
  EXPECT_EQ(without_secrets(file + ": open failed"), file + ": open failed");
  std::filesystem::remove(file);
  EXPECT_NE(shown_word(file), file);
}

}  // namespace
}  // namespace ooc::detail
