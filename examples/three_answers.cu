#include <ooc/execute.hpp>
#include <ooc/ooc.hpp>

#include <thrust/count.h>

#include <iostream>
#include <tuple>

struct Above {
  float threshold;
  constexpr bool operator()(float value) const { return value > threshold; }
};

struct CountAbove {
  using Input = float;
  using Partial = std::uint64_t;
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
  const std::tuple operators{CountAbove{0.5f}, ooc::Reduction<float>(),
                             ooc::CountBins<float>({.bins = 4, .range = {{0, 1}}})};
  const auto [found, stats] = ooc::fold(coordinator, operators, prices);  // reads it once
  const auto& [above, statistics, histogram] = found;
  std::cout << above << '\n' << statistics.mean.value() << '\n';
  for (const std::uint64_t count : histogram.counts) std::cout << count << '\n';
}
