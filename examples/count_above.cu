#include <ooc/execute.hpp>
#include <ooc/fold.hpp>

#include <thrust/count.h>

#include <iostream>

struct Above {
  float threshold;
  constexpr bool operator()(float value) const { return value > threshold; }
};

struct CountAbove {
  using Input = float;            // the type of a value in the file
  using Partial = std::uint64_t;  // the count of a partition of the data; it begins at 0
  float threshold;

  void consume(ooc::Stream& stream, ooc::DeviceSpan<const float> in, Partial& count) const {
    ooc::execute(stream, [&](auto policy) {
      count += thrust::count_if(policy, in.begin(), in.end(), Above{threshold});
    });
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

int main() {
  ooc::Coordinator coordinator(ooc::best_device());
  const ooc::Source prices = ooc::open("prices.f32");
  std::cout << ooc::fold(coordinator, CountAbove{0.5f}, prices).value << '\n';
}
