#include "result/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace ooc_run {
namespace {

TEST(JsonList, HasTheTextOfAnArray) {
  std::vector<double> values{0.0, -0.0, 0.1, 5, 1e22, 1e-7, 123456789.125, 5e-324};
  for (int i = 0; i < 3000; ++i) values.push_back(std::ldexp(1.0 / (i + 1), i % 600 - 300));
  std::vector<std::uint64_t> counts{0, 7, std::numeric_limits<std::uint64_t>::max()};
  const Json arrays{{"edges", values}, {"inner", {{"counts", counts}, {"none", Json::array()}}}};
  const Json lists{
      {"edges", json_list(values)},
      {"inner", {{"counts", json_list(counts)}, {"none", json_list(std::vector<double>{})}}}};
  EXPECT_EQ(text_of(lists), arrays.dump());
  EXPECT_EQ(numbers_in<double>(lists["edges"]), values);
  EXPECT_EQ(numbers_in<std::uint64_t>(lists["inner"]["counts"]), counts);
}

TEST(JsonList, HasStringsForWhatIsNoNumber) {
  const std::vector<double> values{NAN, HUGE_VAL, -HUGE_VAL};
  EXPECT_EQ(text_of(json_list(values)), R"(["NaN","Infinity","-Infinity"])");
}

TEST(Json, IsAscii) {
  EXPECT_EQ(text_of({{"a\x1b\xc3\xa9", {"\xff", nullptr, true, 1.5}}}),
            "{\"a\\u001b\\u00e9\":[\"\\ufffdff\",null,true,1.5]}");
}

TEST(Document, HasItsPartsInTheirOrder) {
  Document document("begin ");
  document.add([](TextStream& out) { out.add(std::uint64_t{5}); });
  document.add(" middle ");
  document.add([](TextStream& out) {
    for (int i = 0; i < 10'000; ++i) out.add("x");
  });
  document.add(std::string(9'000, 'y'));
  EXPECT_EQ(document.text(),
            "begin 5 middle " + std::string(10'000, 'x') + std::string(9'000, 'y'));
}

}  // namespace
}  // namespace ooc_run
