// Tests which operators are right. wrong_operators_test.py tests the errors for wrong ones.

#include <ooc/fold.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "support/float_sum.hpp"

namespace ooc::detail {
namespace {

using test::FloatSum;

/// Functions that are templates, deduce what they return, or are overloaded.
struct Templates {
  using Input = float;
  using Partial = double;
  template <class In>
  void consume(Stream&, const In& in, auto& sum) const {
    for (const float value : in) sum += value;
  }
  template <class T>
  auto merge(T& total, const T& part) const {
    total += part;
  }
};
struct Lambdas {
  using Input = float;
  using Partial = double;
  static constexpr auto consume = [](auto&, auto in, auto& sum) {
    for (const float value : in) sum += value;
  };
  static constexpr auto merge = [](double& total, double part) { total += part; };
};
struct Forwards {
  using Input = float;
  using Partial = double;
  FloatSum sum{};
  template <class... Args>
  void consume(Args&&... args) const {
    sum.consume(std::forward<Args>(args)...);
  }
  void merge(auto&&... args) const { sum.merge(args...); }
};
struct Overloads : FloatSum {
  using FloatSum::consume;
  void consume(Stream&, DeviceChunk<const double>, double) const {}
  static void merge(double& total, const double& part) { total += part; }
  static void merge(float, float) {}
};
struct HandlesOnly {  // the Partial refers to what changes
  using Input = float;
  using Partial = std::shared_ptr<double>;
  Partial make_partial(Stream&) const { return std::make_shared<double>(); }
  void consume(Stream&, DeviceSpan<const float> in, const Partial& sum) const { *sum += in[0]; }
  void merge(Partial& total, const Partial& part) const {
    if (total == nullptr) total = std::make_shared<double>();
    if (part != nullptr) *total += *part;
  }
  double result(const Partial& total) const { return total == nullptr ? 0 : *total; }
};
struct Unions {  // std::set::merge() is a union
  using Input = float;
  using Partial = std::set<float>;
  void consume(Stream&, DeviceSpan<const float> in, Partial& seen) const {
    seen.insert(in.begin(), in.end());
  }
};
static_assert(FoldOperator<FloatSum> && FoldOperator<Templates> && FoldOperator<Lambdas>);
static_assert(FoldOperator<Forwards> && FoldOperator<Overloads> && FoldOperator<HandlesOnly>);
static_assert(FoldOperator<Unions>);

struct AnyByValue : FloatSum {
  void consume(Stream&, auto in, auto sum) const { sum += in[0]; }
};
static_assert(!FoldOperator<AnyByValue> && !FoldOperator<int> && !FoldOperator<Coordinator>);

static_assert(are_records<std::tuple<float, std::array<int, 3>, Row<double>>>);
static_assert(is_record<std::byte> && is_record<std::pair<float, int>>);
static_assert(!is_record<bool> && !is_record<std::array<bool, 4>>);
static_assert(!is_record<Row<bool>> && !is_record<float*>);
static_assert(!is_record<long double>);
static_assert(!is_record<std::vector<float>> && !is_record<const float>);

TEST(Signature, FunctionsOfAnyKindWork) {
  const std::vector<float> values(100'003, 1.0f);
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = 65536});
  const Source source = from_memory(values);
  const auto [sums, stats] = fold(
      coordinator, std::tuple{FloatSum{}, Templates{}, Lambdas{}, Forwards{}, Overloads{}}, source);
  EXPECT_EQ(sums, (std::tuple{100'003.0, 100'003.0, 100'003.0, 100'003.0, 100'003.0}));
  EXPECT_EQ(fold(coordinator, Unions{}, source).value.size(), 1u);
}

}  // namespace
}  // namespace ooc::detail
