#include <ooc/execute.hpp>
#include <ooc/map.hpp>

#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <tuple>

/// Divides a row by its largest absolute value and rounds the quotients to whole 127ths.
struct QuantiseRow {
  ooc::DeviceRows<const float> in;
  ooc::DeviceRows<std::int8_t> out;
  ooc::DeviceSpan<float> scales;

  constexpr void operator()(std::ptrdiff_t row) const {
    float most = 0;
    for (const float value : in.row(row)) most = std::fmax(most, std::fabs(value));
    const float scale = most / 127;
    scales[static_cast<std::size_t>(row)] = scale;
    for (std::size_t i = 0; i < in.columns; ++i) {
      const float quotient = scale == 0 ? 0 : std::rint(in.row(row)[i] / scale);
      out.row(row)[i] = static_cast<std::int8_t>(quotient);
    }
  }
};

struct Quantise {
  using Input = ooc::Row<float>;
  using Output = std::tuple<ooc::Row<std::int8_t>, float>;  // a row of bytes and its scale
  static constexpr std::string_view partial_name = "example.quantise/1";

  void transform(ooc::Stream& stream, ooc::DeviceRows<const float> in,
                 ooc::DeviceRows<std::int8_t> out, ooc::DeviceSpan<float> scales) const {
    const thrust::counting_iterator<std::ptrdiff_t> first(0);
    ooc::execute(stream, [&](auto policy) {
      thrust::for_each_n(policy, first, in.rows(), QuantiseRow{in, out, scales});
    });
  }
};

int main() {
  ooc::Coordinator coordinator(ooc::best_device());
  const std::array targets{ooc::Target{.path = "bytes.npy", .replace = true},
                           ooc::Target{.path = "scales.npy", .replace = true}};
  ooc::map(coordinator, Quantise{}, ooc::open("points.npy"), targets,
           {.checkpoint = {.file = "quantise.ckpt"}});
  std::filesystem::remove("quantise.ckpt");
}
