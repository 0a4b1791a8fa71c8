#include <ooc/fold.hpp>

#include <cstdint>
#include <iostream>

struct CountAbove {
  using Input = float;            // the type of a value in the file
  using Partial = std::uint64_t;  // the count of a partition of the data; it begins at 0
  static constexpr auto runs_on = ooc::DeviceKind::cpu;  // a plain loop cannot run on a GPU
  float threshold;

  void consume(ooc::Stream&, ooc::DeviceSpan<const float> in, Partial& count) const {
    for (const float value : in) count += value > threshold;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

int main() {
  ooc::Coordinator coordinator(ooc::make_device(ooc::DeviceKind::cpu));
  const ooc::Source prices = ooc::open("prices.f32");
  std::cout << ooc::fold(coordinator, CountAbove{0.5f}, prices).value << '\n';
}
