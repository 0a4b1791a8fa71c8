#include <ooc/execute.hpp>
#include <ooc/map.hpp>
#include <ooc/ooc.hpp>

#include <thrust/transform.h>

struct DistanceFromMean {
  float mean, stddev;
  constexpr float operator()(float value) const { return (value - mean) / stddev; }
};

struct Standardise {
  using Input = float;   // the element type of the input
  using Output = float;  // the element type of the output
  DistanceFromMean distance;

  void transform(ooc::Stream& stream, ooc::DeviceSpan<const float> in,
                 ooc::DeviceSpan<float> out) const {
    ooc::execute(stream, [&](auto policy) {
      thrust::transform(policy, in.begin(), in.end(), out.begin(), distance);
    });
  }
};

int main() {
  ooc::Coordinator coordinator(ooc::best_device());
  const ooc::Source prices = ooc::open("prices.f32");
  const ooc::Statistics all = ooc::reduce(coordinator, prices).value;
  const Standardise standardise{
      {static_cast<float>(all.mean.value()), static_cast<float>(all.stddev.value())}};
  ooc::map(coordinator, standardise, prices, {.path = "standardised.npy", .replace = true});
}
