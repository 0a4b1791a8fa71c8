#pragma once

#include <ooc/device.hpp>

#include <numeric>
#include <string_view>

namespace ooc::detail::test {

/// Adds up floats in host memory.
struct FloatSum {
  using Input = float;
  using Partial = double;
  static constexpr std::string_view partial_name = "sum";
  void consume(Stream&, DeviceSpan<const float> in, double& sum) const {
    sum = std::accumulate(in.begin(), in.end(), sum);
  }
  void merge(double& total, const double& part) const { total += part; }
};

}  // namespace ooc::detail::test
