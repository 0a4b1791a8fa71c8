#include <ooc/execute.hpp>
#include <ooc/filter.hpp>

#include <cstdint>
#include <iostream>

struct Above {
  float threshold;

  constexpr bool operator()(float value) const { return value > threshold; }
};

struct KeepAbove {
  using Input = float;
  using Output = float;
  float threshold;

  void select(ooc::Stream& stream, ooc::DeviceChunk<const float> in, ooc::DeviceSpan<float> out,
              std::uint64_t* kept) const {
    ooc::keep_if(stream, in, out, kept, Above{threshold});
  }
};

int main() {
  ooc::Coordinator coordinator(ooc::best_device());
  const auto [found, stats] = ooc::filter(coordinator, KeepAbove{0.5f}, ooc::open("prices.f32"),
                                          {.path = "high.npy", .replace = true});
  std::cout << found.kept << " of " << found.seen << '\n';
}
