#include <ooc/execute.hpp>
#include <ooc/map.hpp>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform.h>

#include <algorithm>
#include <cstddef>

/// Returns the mean of an element and its neighbours. At the ends of the data there are fewer.
struct MeanAround {
  ooc::DeviceWindow<const float> in;
  std::ptrdiff_t width;

  constexpr float operator()(std::ptrdiff_t i) const {
    const std::ptrdiff_t from = std::max(i - width, -static_cast<std::ptrdiff_t>(in.before));
    const std::ptrdiff_t to =
        std::min(i + width + 1, static_cast<std::ptrdiff_t>(in.size + in.after));
    float sum = 0;
    for (std::ptrdiff_t k = from; k < to; ++k) sum += in.at(k);
    return sum / static_cast<float>(to - from);
  }
};

struct MovingAverage {
  using Input = float;
  using Output = float;
  std::size_t width;

  std::size_t before() const { return width; }
  std::size_t after() const { return width; }
  void transform(ooc::Stream& stream, ooc::DeviceWindow<const float> in,
                 ooc::DeviceSpan<float> out) const {
    const thrust::counting_iterator<std::ptrdiff_t> first(0);
    ooc::execute(stream, [&](auto policy) {
      thrust::transform(policy, first, first + static_cast<std::ptrdiff_t>(in.size), out.begin(),
                        MeanAround{in, static_cast<std::ptrdiff_t>(width)});
    });
  }
};

int main() {
  ooc::Coordinator coordinator(ooc::best_device());
  ooc::map(coordinator, MovingAverage{3}, ooc::open("prices.f32"),
           {.path = "averages.npy", .replace = true});
}
