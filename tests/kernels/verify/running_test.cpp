#include <ooc/running.hpp>

#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "io/expect_error.hpp"

namespace ooc::detail {
namespace {

/// Expects that results are refused, if they are not those of the values.
template <class T, class V>
void expect_refused(const std::vector<T>& values, const std::vector<V>& results,
                    const RunningOptions& options, const std::string& text) {
  SCOPED_TRACE(text);
  Coordinator checks(make_device(DeviceKind::cpu));
  test::expect_error(ErrorKind::verify, text, [&] {
    verify_running(checks, from_memory(values), from_memory(results), options);
  });
}

template <class T, class V>
void expect_right(const std::vector<T>& values, const std::vector<V>& results,
                  const RunningOptions& options) {
  Coordinator checks(make_device(DeviceKind::cpu));
  verify_running(checks, from_memory(values), from_memory(results), options);
}

TEST(VerifyRunningTest, RightOnes) {
  const std::vector<std::int16_t> values{3, -5, 7};
  expect_right(values, std::vector<std::int64_t>{3, -2, 5}, {});
  expect_right(values, std::vector<std::int64_t>{0, 3, -2}, {.exclusive = true});
  expect_right(values, std::vector<std::int16_t>{3, -5, -5}, {.value = RunningValue::minimum});
  expect_right(values, std::vector<std::int16_t>{3, 3, 7}, {.value = RunningValue::maximum});
  expect_right(std::vector<float>{-0.0f, 1.5f}, std::vector<double>{0, 1.5}, {});
  expect_right(std::vector<float>{-0.0f, 0}, std::vector<float>{-0.0f, -0.0f},
               {.value = RunningValue::maximum});
  expect_right(std::vector<float>{}, std::vector<double>{}, {});
}

TEST(VerifyRunningTest, WrongOnesAreRefused) {
  const std::vector<std::int16_t> values{3, -5, 7};
  expect_refused(values, std::vector<std::int64_t>{3, -2, 6}, {},
                 "the value at index 2 is 6, but 5");
  expect_refused(values, std::vector<std::int64_t>{3, -2}, {},
                 "the number of elements is 2, but 3");
  expect_refused(values, std::vector<std::int64_t>{3, -2, 5}, {.exclusive = true},
                 "the value at index 0 is 3, but 0");
  expect_refused(values, std::vector<std::int16_t>{3, 3, -5}, {.value = RunningValue::minimum},
                 "the value at index 1 is 3, but -5");
  expect_refused(std::vector<float>{-0.0f, 0}, std::vector<float>{0, 0},
                 {.value = RunningValue::minimum}, "the value at index 0");
  std::vector<double> many(200'000, 0.1), sums(many.size());
  Coordinator checks(make_device(DeviceKind::cpu));
  for (std::size_t i = 1; i < sums.size(); ++i) sums[i] = sums[i - 1] + many[i - 1];
  expect_refused(many, sums, {.exclusive = true}, "the value at index ");
}

TEST(VerifyRunningTest, RefusesResultsOfAnotherType) {
  Coordinator checks(make_device(DeviceKind::cpu));
  const std::vector<float> values{1, 2}, sums{1, 3};
  test::expect_error(ErrorKind::usage, "holds float32, but the results are float64",
                     [&] { verify_running(checks, from_memory(values), from_memory(sums)); });
}

}  // namespace
}  // namespace ooc::detail
