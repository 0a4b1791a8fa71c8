#include <ooc/quantile.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "support/special_values.hpp"
#include "support/values_file.hpp"

namespace ooc::detail {
namespace {

class VerifyQuantileTest : public testing::Test, protected test::ValuesFile {
 protected:
  /// Expects that quantiles of `source` fail the check after `spoil`.
  void expect_refused(const Source& source, const QuantileOptions& options, const std::string& text,
                      const std::function<void(Quantiles&)>& spoil) {
    SCOPED_TRACE(text);
    Quantiles found = quantile(coordinator_, source, options).value;
    verify_quantile(coordinator_, source, options, found);
    spoil(found);
    test::expect_error(ErrorKind::verify, text,
                       [&] { verify_quantile(coordinator_, source, options, found); });
  }

  Coordinator coordinator_{make_device(DeviceKind::cpu), {.chunk_bytes = 256 * KiB}};
};

TEST_F(VerifyQuantileTest, RightOnesOfEveryMethod) {
  for (int method = 0; method <= static_cast<int>(QuantileMethod::normal_unbiased); ++method) {
    for (const NanPolicy nan : {NanPolicy::omit, NanPolicy::propagate}) {
      const QuantileOptions options{.q = {0, 0.001, 0.3, 0.5, 0.5, 0.77, 0.9999, 1},
                                    .method = static_cast<QuantileMethod>(method),
                                    .nan = nan};
      for (const std::size_t count : {1, 2, 3, 100, 70'001}) {
        const Source source = source_of(test::varied_values<float>(count));
        verify_quantile(coordinator_, source, options,
                        quantile(coordinator_, source, options).value);
      }
    }
  }
}

TEST_F(VerifyQuantileTest, WrongOnes) {
  const Source source = source_of(std::vector<std::int32_t>{1, 2, 2, 5, 9});
  const QuantileOptions median{.q = {0.5}};
  expect_refused(source, median, "the quantile 0.5 is 3, but 2",
                 [](Quantiles& found) { found.quantiles[0].value = 3.0; });
  expect_refused(source, median, "the number of elements 3 is 1, but 0",
                 [](Quantiles& found) { found.quantiles[0].lower = int128{3}; });
  expect_refused(source, median, "the rank of 5 is 3, but 2",
                 [](Quantiles& found) { found.quantiles[0].lower = int128{5}; });
  expect_refused(source, median, "the rank of 1 is 0, but 3",
                 [](Quantiles& found) { found.quantiles[0].upper = int128{1}; });
  expect_refused(source, median, "count is 6, but 5", [](Quantiles& found) { ++found.count; });
  expect_refused(source, median, "nan is 1, but 0", [](Quantiles& found) { ++found.nan; });
  expect_refused(source, median, "q is 0.6, but 0.5",
                 [](Quantiles& found) { found.quantiles[0].q = 0.6; });
  expect_refused(source, median, "the number of quantiles is 0, but 1",
                 [](Quantiles& found) { found.quantiles.clear(); });
  const Source zeros = source_of(std::vector<double>{-0.0, 0.0});
  expect_refused(zeros, {.q = {0}, .method = QuantileMethod::lower}, "the rank of 0 is 1, but 0",
                 [](Quantiles& found) {
                   found.quantiles[0] = {0, 0.0, 0.0, 0.0};
                 });
  const Source none = source_of(std::vector<double>{test::nan});
  expect_refused(none, median, "the quantile 0.5 is 1, but NaN",
                 [](Quantiles& found) { found.quantiles[0].value = 1.0; });
}

}  // namespace
}  // namespace ooc::detail
