#include <ooc/reduce.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "support/special_values.hpp"
#include "support/values_file.hpp"
#include "support/wrapped_engine.hpp"

namespace ooc::detail {
namespace {

using test::infinity;
using test::largest;
using test::nan;
using test::smallest;

constexpr ReduceOptions all_options[] = {{.nan = NanPolicy::propagate, .exact = false},
                                         {.nan = NanPolicy::omit, .exact = false},
                                         {.nan = NanPolicy::propagate, .exact = true},
                                         {.nan = NanPolicy::omit, .exact = true}};

/// Returns `count` values, which `make` computes from random bits.
template <class T, class Make>
std::vector<T> random_values(std::size_t count, Make make) {
  std::mt19937_64 random(count);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(make(random()));
  return values;
}

/// Returns a value from -0.5 to 0.5.
double fraction(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53 - 0.5;
}

class VerifyReduceTest : public testing::Test, protected test::ValuesFile {
 protected:
  void expect_verified(const Source& source) {
    for (const ReduceOptions& options : all_options) {
      verify_reduce(coordinator_, source, options, reduce(coordinator_, source, options).value);
    }
  }
  template <class T>
  void expect_verified(const std::vector<T>& values) {
    expect_verified(source_of(values));
  }

  /// Expects that the statistics of `source` fail the check after `spoil`.
  void expect_refused(const Source& source, const ReduceOptions& options, const std::string& text,
                      const std::function<void(Statistics&)>& spoil) {
    SCOPED_TRACE(text);
    Statistics found = reduce(coordinator_, source, options).value;
    verify_reduce(coordinator_, source, options, found);
    spoil(found);
    test::expect_error(ErrorKind::verify, text,
                       [&] { verify_reduce(coordinator_, source, options, found); });
  }

  Coordinator coordinator_{make_device(DeviceKind::cpu), {.chunk_bytes = 256 * KiB, .streams = 3}};
};

TEST_F(VerifyReduceTest, RightOnesOfEveryType) {
  for (int element = 0; element <= static_cast<int>(ElementType::bf16); ++element) {
    visit(static_cast<ElementType>(element), [&]<class T>(std::type_identity<T>) {
      for (const std::size_t count : {1, 2, 100'003}) {
        for (const bool swapped : {false, true}) {
          expect_verified(source_of(test::random_bits<T>(count), swapped));
        }
      }
    });
  }
}

TEST_F(VerifyReduceTest, WhateverRoundingDoes) {
  constexpr std::size_t count = 200'001;
  const auto values = [](auto make) { return random_values<double>(count, make); };
  expect_verified(values(fraction));
  expect_verified(values([](std::uint64_t) { return 0.1; }));
  expect_verified(values([](std::uint64_t bits) { return 1e9 + fraction(bits); }));
  expect_verified(values([](std::uint64_t bits) { return -1e15 + 1e-3 * fraction(bits); }));
  expect_verified(values([](std::uint64_t bits) { return fraction(bits) * 1e-310; }));
  expect_verified(values([](std::uint64_t bits) { return fraction(bits) * 1e-160; }));
  expect_verified(values([](std::uint64_t bits) { return fraction(bits) * 1e153; }));
  expect_verified(values([](std::uint64_t bits) {
    return std::ldexp(fraction(bits), static_cast<int>(bits % 900) - 450);
  }));
  std::vector<double> ordered = values([](std::uint64_t bits) { return 1 / fraction(bits); });
  std::ranges::sort(ordered);
  expect_verified(ordered);
  for (std::size_t i = 1; i < count; i += 2) ordered[i] = -ordered[i - 1];
  expect_verified(ordered);
  expect_verified(random_values<std::uint64_t>(
      count, [](std::uint64_t bits) { return ~std::uint64_t{0} - bits % 8; }));
}

TEST_F(VerifyReduceTest, SumsThatOverflow) {
  std::vector<double> values(200'000, largest);
  expect_verified(values);
  for (std::size_t i = 0; i < values.size() / 2; ++i) values[i] = -largest;
  expect_verified(values);
  values.assign(200'000, 1e160);  // their squares overflow
  values[7] = -1e160;
  expect_verified(values);
  values.assign(100'000, largest / 1e5);
  values.resize(170'000, -1);
  expect_verified(values);
  // the sum of both tiles overflows, but the variance is 0
  values.assign(2 * tile_elements, 0x1p1007);
  expect_verified(values);
}

TEST_F(VerifyReduceTest, SpecialValues) {
  expect_verified(std::vector<double>{});
  expect_verified(std::vector<double>{nan, nan});
  expect_verified(std::vector<double>{-0.0, 0.0, -0.0});
  expect_verified(std::vector<double>{3, nan, 1, 2});
  expect_verified(std::vector<double>{infinity, 1});
  expect_verified(std::vector<double>{1, -infinity, nan});
  expect_verified(std::vector<double>{infinity, 1, -infinity});
  expect_verified(std::vector<double>{infinity, -largest, -largest});
  expect_verified(std::vector<double>{smallest, -smallest, smallest});
}

TEST_F(VerifyReduceTest, AnyStatisticThatIsWrong) {
  std::vector<float> values = random_values<float>(200'003, fraction);
  values[70'001] = values[150'000] = 0.75f;
  values[70'002] = -0.75f;
  values[100'000] = std::nanf("");
  const Source source = source_of(values);
  for (const bool exact : {false, true}) {
    const ReduceOptions options{.nan = NanPolicy::omit, .exact = exact};
    const auto refuse = [&](const std::string& text,
                            const std::function<void(Statistics&)>& spoil) {
      expect_refused(source, options, text, spoil);
    };
    refuse("count is 200002, but 200003 when", [](Statistics& found) { --found.count; });
    refuse("nan is 0, but 1 when", [](Statistics& found) { found.nan = 0; });
    refuse("inf is 7, but 0 when", [](Statistics& found) { found.inf = 7; });
    refuse("min is -0.5, but -0.75 when", [](Statistics& found) { found.min = -0.5; });
    refuse("max is nothing, but 0.75 when", [](Statistics& found) { found.max = {}; });
    refuse("argmin is 70001, but 70002 when", [](Statistics& found) { found.argmin = 70'001; });
    refuse("argmax is 150000, but 70001 when", [](Statistics& found) { found.argmax = 150'000; });
    refuse("sum is ", [](Statistics& found) { std::get<double>(found.sum) += 1e-7; });
    refuse("sum is NaN", [](Statistics& found) { found.sum = nan; });
    refuse("mean is ", [](Statistics& found) { *found.mean += 1e-13; });
    refuse("mean is nothing", [](Statistics& found) { found.mean.reset(); });
    refuse("variance is ", [](Statistics& found) { *found.variance *= 1 + 1e-12; });
    refuse("variance is inf", [](Statistics& found) { found.variance = infinity; });
    refuse("stddev is ", [](Statistics& found) { *found.stddev *= 1 + 1e-15; });
  }
}

TEST_F(VerifyReduceTest, TheLastBitOfWhatIsExact) {
  const Source source = source_of(random_values<double>(100'000, fraction));
  const ReduceOptions exactly{.exact = true};
  expect_refused(source, exactly, "sum is ", [](Statistics& found) {
    found.sum = std::nextafter(std::get<double>(found.sum), infinity);
  });
  expect_refused(source, exactly, "mean is ",
                 [](Statistics& found) { *found.mean = std::nextafter(*found.mean, -infinity); });
  const Source integers = source_of(test::random_bits<std::int64_t>(100'000));
  expect_refused(integers, {}, "sum is ",
                 [](Statistics& found) { found.sum = std::get<int128>(found.sum) + 1; });
  expect_refused(integers, exactly, "mean is ",
                 [](Statistics& found) { *found.mean = std::nextafter(*found.mean, -infinity); });
  const Source zeros = source_of(std::vector<double>{-0.0, 0, -0.0});
  expect_refused(zeros, {}, "min is 0, but -0 when", [](Statistics& found) { found.min = 0.0; });
  expect_refused(zeros, {}, "argmax is 1, but 0 when", [](Statistics& found) { found.argmax = 1; });
}

TEST_F(VerifyReduceTest, WrongSpecialValues) {
  const Source with_nan = source_of(std::vector<double>{3, nan, 1, nan});
  expect_refused(with_nan, {}, "sum is 4, but NaN when",
                 [](Statistics& found) { found.sum = 4.0; });
  expect_refused(with_nan, {}, "argmin is 2, but 1 when",
                 [](Statistics& found) { found.argmin = 2; });
  const Source with_infinity = source_of(std::vector<double>{1, infinity});
  expect_refused(with_infinity, {}, "mean is 1, but inf when",
                 [](Statistics& found) { found.mean = 1; });
  expect_refused(with_infinity, {}, "variance is 0, but NaN when",
                 [](Statistics& found) { found.variance = 0; });
  const Source empty = source_of(std::vector<double>{});
  expect_refused(empty, {}, "sum is nothing, but 0 when",
                 [](Statistics& found) { found.sum = {}; });
  expect_refused(empty, {}, "max is 0, but nothing when",
                 [](Statistics& found) { found.max = 0.0; });
  expect_verified(std::vector<std::int16_t>{});
}

/// Flips one bit of one byte.
class LyingEngine final : public test::WrappedEngine {
 public:
  using WrappedEngine::WrappedEngine;
  Request& wait() override {
    Request& request = WrappedEngine::wait();
    if (request.offset <= 500'002 && 500'002 < request.offset + request.bytes) {
      request.memory[500'002 - request.offset] ^= std::byte{0x40};
    }
    return request;
  }
};

TEST_F(VerifyReduceTest, AByteThatChangedOnTheWay) {
  const Source source = source_of(std::vector<float>(300'000, 1));
  Options options{.streams = 2, .direct = DirectIo::no};
  options.make_engine = [](const EngineOptions& engine) {
    return std::make_unique<LyingEngine>(make_engine(engine));
  };
  Coordinator coordinator(make_device(DeviceKind::cpu), options);
  const Statistics found = reduce(coordinator, source).value;
  test::expect_error(ErrorKind::verify, "but 1 when it is computed another way",
                     [&] { verify_reduce(coordinator, source, {}, found); });
}

}  // namespace
}  // namespace ooc::detail
