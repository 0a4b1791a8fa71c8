// Tests where a text is cut into a path and the name of an array.

#include <ooc/detail/dataset/judgement.hpp>

#include <gtest/gtest.h>

#include <string>

#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

TEST(Selector, CutsAddresses) {
  struct Case {
    std::string text, path, name;
  };
  const std::string host = "https://host:80/";
  for (const auto& [text, path, name] :
       {Case{"x.npy", "x.npy", ""}, Case{"x.npy[1:2]", "x.npy", "[1:2]"},
        Case{"m.safetensors::a::b", "m.safetensors", "a::b"}, Case{"a.npz::w[3]", "a.npz", "w[3]"},
        Case{"a.npz.gz::w", "a.npz.gz", "w"}, Case{"a.npz::w?key=1", "a.npz?key=1", "w"},
        Case{"a.npz?key=1::w", "a.npz?key=1", "w"},
        Case{"x.npy?key=1[0:2]", "x.npy?key=1", "[0:2]"}, Case{"x.npy::w", "x.npy::w", ""}}) {
    const Selector found = selector_of(host + text);
    EXPECT_EQ(found.path.string(), host + path);
    EXPECT_EQ(found.name, name);
  }
  EXPECT_EQ(selector_of("http://[::1]").path.string(), "http://[::1]");
  EXPECT_EQ(selector_of("http://[::1]/x.npy[2]").name, "[2]");
}

TEST(Selector, CutsAtTheLastFile) {
  const test::TempDir directory;
  const std::string file = directory.write("a::b.npy", "").string();
  EXPECT_EQ(selector_of(file).name, "");
  EXPECT_EQ(selector_of(file + "::w").name, "w");
  EXPECT_EQ(selector_of(file + "::w::v").name, "w::v");
  EXPECT_EQ(selector_of(file + "[1:2]").name, "[1:2]");
  EXPECT_EQ(selector_of(file + "::w[1:2]").name, "w[1:2]");
  EXPECT_EQ(selector_of(file + "x[1:2]").path.string(), file + "x[1:2]");
  directory.write("a::b.npy[1:2]", "");
  EXPECT_EQ(selector_of(file + "[1:2]").name, "");
  EXPECT_EQ(selector_of(file + "[1:2][3]").name, "[3]");
}

}  // namespace
}  // namespace ooc::detail
