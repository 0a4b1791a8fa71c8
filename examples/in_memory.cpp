#include <ooc/check.hpp>
#include <ooc/records.hpp>

#include <iostream>
#include <numeric>
#include <vector>

struct SumOfSquares {
  using Input = float;
  using Partial = double;
  static constexpr auto runs_on = ooc::DeviceKind::cpu;  // a plain loop cannot run on a GPU

  void consume(ooc::Stream&, ooc::DeviceSpan<const float> in, Partial& sum) const {
    for (const float value : in) sum += double{value} * value;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

int main() {
  std::vector<float> values(1'000'000);
  std::iota(values.begin(), values.end(), 0.0f);
  ooc::Coordinator coordinator(ooc::make_device(ooc::DeviceKind::cpu));
  const ooc::Source source = ooc::from_memory(values);
  ooc::check(coordinator, SumOfSquares{}, source);  // throws if the operator breaks a rule
  std::cout << ooc::fold(coordinator, SumOfSquares{}, source).value << '\n';
}
