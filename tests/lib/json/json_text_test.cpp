#include "json/json_text.hpp"

#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/expect_error.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;

TEST(JsonText, FindsMembers) {
  const std::string text = R"( {"a" : [1,{"b":"}\"]"}] , "b":"x,\\", "c":{"d":5},"e":7} )";
  require_plain_json(text);
  EXPECT_EQ(nlohmann::ordered_json::parse(member_of(text, "a")).size(), 2u);
  EXPECT_EQ(member_of(text, "b"), R"("x,\\")");
  EXPECT_EQ(member_of(text, "c"), R"({"d":5})");
  EXPECT_EQ(member_of(text, "e"), "7");
  expect_error(ErrorKind::bad_input, "does not have 'd'", [&] { member_of(text, "d"); });
  expect_error(ErrorKind::bad_input, "other values", [&] { member_of("[1]", "d"); });
}

TEST(JsonText, FindsElements) {
  std::vector<std::string> found;
  const auto take = [&](const nlohmann::ordered_json& json) { found.push_back(json.dump()); };
  for_each_element(R"([1, "a]", {"b":[2]} ,[ ]])", take);
  EXPECT_EQ(found, (std::vector<std::string>{"1", R"("a]")", R"({"b":[2]})", "[]"}));
  found.clear();
  for_each_element(" [ ] ", take);
  EXPECT_TRUE(found.empty());
  expect_error(ErrorKind::bad_input, "other values", [&] { for_each_element("{}", take); });
  const std::string long_one = "[\"" + std::string(100'000, 'x') + "\"]";
  expect_error(ErrorKind::bad_input, "too long", [&] { for_each_element(long_one, take); });
}

TEST(JsonText, RefusesLargeStructures) {
  const auto refuse = [](const char* what, const std::string& text) {
    expect_error(ErrorKind::bad_input, what, [&] { require_plain_json(text); });
  };
  std::string members = "{", values = "[";
  for (int i = 0; i < 300; ++i) members += '"' + std::to_string(i) + "\":0,";
  for (int i = 0; i < 3'000'000; ++i) values += "0,";
  refuse("too many members", members + "\"a\":0}");
  refuse("too many values", values + "0]");
  refuse("text that is too long", '"' + std::string(5'000'000, 'x') + '"');
  refuse("text that is too long", "{\"" + std::string(5'000'000, 'x') + "\":1}");
  refuse("nested too deeply", std::string(100, '[') + std::string(100, ']'));
  refuse("damaged", "{");
  refuse("damaged", "[1,]");
}

}  // namespace
}  // namespace ooc::detail
