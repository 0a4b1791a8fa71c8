#include <ooc/distinct.hpp>

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

class VerifyDistinctTest : public testing::Test, protected test::ValuesFile {
 protected:
  /// Expects that values of `source` fail the check after `spoil`.
  void expect_refused(const Source& source, const DistinctOptions& options, const std::string& text,
                      const std::function<void(Distinct&)>& spoil) {
    SCOPED_TRACE(text);
    Distinct found = distinct(coordinator_, source, options).value;
    verify_distinct(coordinator_, source, options, found);
    spoil(found);
    test::expect_error(ErrorKind::verify, text,
                       [&] { verify_distinct(coordinator_, source, options, found); });
  }

  Coordinator coordinator_{make_device(DeviceKind::cpu), {.chunk_bytes = 256 * KiB}};
};

TEST_F(VerifyDistinctTest, RightOnesOfEveryType) {
  for (const ElementType type : test::all_types) {
    visit(type, [&]<class T>(std::type_identity<T>) {
      const Source source = source_of(test::varied_values<T>(100'001));
      for (const DistinctOptions options :
           {DistinctOptions{.counts = 3000}, DistinctOptions{.estimate = true}}) {
        verify_distinct(coordinator_, source, options,
                        distinct(coordinator_, source, options).value);
      }
    });
  }
}

TEST_F(VerifyDistinctTest, InSeveralReads) {
  const Source source = source_of(test::random_bits<double>(100'000));
  const DistinctOptions options{.counts = 10};
  const Distinct found = distinct(coordinator_, source, options).value;
  Coordinator small(make_device(DeviceKind::cpu), {.memory_bytes = MiB});
  verify_distinct(small, source, options, found);
  Distinct wrong = found;
  ++*wrong.distinct;
  test::expect_error(ErrorKind::verify, "the number of distinct values",
                     [&] { verify_distinct(small, source, options, wrong); });
}

TEST_F(VerifyDistinctTest, WrongOnesAreRefused) {
  const Source source = source_of(std::vector<float>{5, 1, 7, 7, float(test::nan), 3, 7, 1, -0.0f});
  const DistinctOptions three{.counts = 3};  // 7, 1, 0
  expect_refused(source, three, "count is 10, but 9", [](Distinct& found) { ++found.count; });
  expect_refused(source, three, "nan is 0, but 1", [](Distinct& found) { --found.nan; });
  expect_refused(source, {}, "the number of distinct values is 7, but 6",
                 [](Distinct& found) { ++*found.distinct; });
  expect_refused(source, {}, "the number of distinct values is 4, but 5",
                 [](Distinct& found) { found.distinct = 4; });
  expect_refused(source, {.estimate = true}, "the estimate",
                 [](Distinct& found) { found.estimate = 20; });
  expect_refused(source, three, "the number of counts is 2, but 3",
                 [](Distinct& found) { found.values.pop_back(); });
  expect_refused(source, three, "the count of 7 is 4, but 3",
                 [](Distinct& found) { found.values[0].count = 4; });
  expect_refused(source, three, "a value of the list",
                 [](Distinct& found) { std::swap(found.values[0], found.values[1]); });
  expect_refused(source, three, "the number of values up to the last of the list is 3, but 4",
                 [](Distinct& found) { found.values.back().value = 3.0; });
  expect_refused(source, {.counts = 9}, "the number of values of the list that the data have",
                 [](Distinct& found) { found.values[4].value = 6.0; });
}

}  // namespace
}  // namespace ooc::detail
