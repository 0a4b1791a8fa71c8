#include <ooc/execute.hpp>
#include <ooc/filter.hpp>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>

struct Above {
  float threshold;

  constexpr bool operator()(float value) const { return value > threshold; }
};

struct KeepAbove {
  using Input = float;
  using Output = float;
  static constexpr std::string_view partial_name = "example.keep_above/1";
  float threshold;

  /// All digits: a job goes on only with the same threshold.
  std::string question() const { return std::to_string(std::bit_cast<std::uint32_t>(threshold)); }

  void select(ooc::Stream& stream, ooc::DeviceChunk<const float> in, ooc::DeviceSpan<float> out,
              std::uint64_t* kept) const {
    ooc::keep_if(stream, in, out, kept, Above{threshold});
  }
};

int main() {
  ooc::Coordinator coordinator(ooc::best_device());
  const auto [found, stats] =
      ooc::filter(coordinator, KeepAbove{0.5f}, ooc::open("prices.f32"),
                  {.path = "high.npy", .type = {ooc::ElementType::f4}, .replace = true},
                  {.checkpoint = {.file = "high.ckpt"}});
  std::cout << found.kept << " of " << found.seen << std::endl;
  std::filesystem::remove("high.ckpt");
}
