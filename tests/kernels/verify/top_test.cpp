#include <ooc/top.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/all_types.hpp"
#include "support/special_values.hpp"
#include "support/values_file.hpp"

namespace ooc::detail {
namespace {

class VerifyTopTest : public testing::Test, protected test::ValuesFile {
 protected:
  /// Expects that values of `source` fail the check after `spoil`.
  void expect_refused(const Source& source, const TopOptions& options, const std::string& text,
                      const std::function<void(Top&)>& spoil) {
    SCOPED_TRACE(text);
    Top found = top(coordinator_, source, options).value;
    verify_top(coordinator_, source, options, found);
    spoil(found);
    test::expect_error(ErrorKind::verify, text,
                       [&] { verify_top(coordinator_, source, options, found); });
  }

  Coordinator coordinator_{make_device(DeviceKind::cpu), {.chunk_bytes = 256 * KiB}};
};

TEST_F(VerifyTopTest, RightOnesOfEveryType) {
  for (const ElementType type : test::all_types) {
    visit(type, [&]<class T>(std::type_identity<T>) {
      const Source source = source_of(test::varied_values<T>(200'001));
      for (const TopOptions options : {TopOptions{.k = 1}, TopOptions{.k = 3000, .smallest = true},
                                       TopOptions{.k = 300'000}}) {
        verify_top(coordinator_, source, options, top(coordinator_, source, options).value);
      }
    });
  }
}

TEST_F(VerifyTopTest, WrongOnesAreRefused) {
  const Source source = source_of(std::vector<float>{5, 1, 7, 7, float(test::nan), 3});
  const TopOptions three{.k = 3};  // 7, 7, 5 at 2, 3, 0
  expect_refused(source, three, "count is 7, but 6", [](Top& found) { ++found.count; });
  expect_refused(source, three, "nan is 0, but 1", [](Top& found) { --found.nan; });
  expect_refused(source, three, "the number of values is 2, but 3",
                 [](Top& found) { found.values.pop_back(); });
  expect_refused(source, three, "the number of values is 0, but 3",
                 [](Top& found) { found.values.clear(); });
  expect_refused(source, three, "the value at index 0 is 6, but 5",
                 [](Top& found) { found.values.back().value = 6.0; });
  expect_refused(source, three, "the value at index 1 is 5, but 1",
                 [](Top& found) { found.values.back().index = 1; });
  expect_refused(source, three, "the value of rank 2 is 7, but 7",
                 [](Top& found) { std::swap(found.values[0], found.values[1]); });
  expect_refused(source, three, "the value of rank 2 is 7, but 7",
                 [](Top& found) { found.values[1] = found.values[0]; });
  expect_refused(source, three, "the number of elements up to the last value is 3, but 4",
                 [](Top& found) {
                   found.values.back() = {3.0, 5};
                 });
  expect_refused(source, {.k = 9}, "the largest index is 8, but 5", [](Top& found) {
    found.values.back() = {1.0, 8};
  });
  expect_refused(source, {.k = 1, .smallest = true},
                 "the number of elements up to the last value is 1, but 2", [](Top& found) {
                   found.values.back() = {3.0, 5};
                 });
  const Source zeros = source_of(std::vector<double>{-0.0, 0.0});
  expect_refused(zeros, {.k = 1}, "the number of elements up to the last value is 1, but 2",
                 [](Top& found) {
                   found.values[0] = {-0.0, 0};
                 });
}

}  // namespace
}  // namespace ooc::detail
