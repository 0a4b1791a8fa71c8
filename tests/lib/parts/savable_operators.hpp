#pragma once

#include <ooc/fold.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string_view>
#include <tuple>

#include "lib/operators/resident_fixture.hpp"

// Operators whose partials can be saved, and one that looks at neighbours, too.

namespace ooc::detail::test {

/// A sum whose bits show the order of additions.
struct NamedSum : RoundedSum {
  static constexpr std::string_view partial_name = "test.sum/1";
};

/// Adds up values and their neighbours.
struct WindowSum : NamedSum {
  std::size_t before() const { return 1; }
  void consume(Stream& stream, DeviceWindow<const float> in, float& sum) const {
    for (const float value : on_host<const float>(stream, in)) sum += value;
  }
};

/// Adds up products of two files, of rows in the first.
struct WeightedRows {
  using Input = std::tuple<Row<float>, float>;
  using Partial = double;
  static constexpr std::size_t partition_records = 1024;
  static constexpr std::string_view partial_name = "test.weighted/1";
  std::function<void()> at_partition = [] {};

  void consume(Stream& stream, DeviceRows<const float> rows, DeviceChunk<const float> weights,
               double& sum) const {
    at_partition();
    EXPECT_EQ(rows.first, weights.first);
    const auto values = on_host<const float>(stream, rows);
    const auto factors = on_host<const float>(stream, weights);
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * factors[i / rows.columns];
  }
  void merge(double& total, const double& part) const { total += part; }
};

}  // namespace ooc::detail::test
