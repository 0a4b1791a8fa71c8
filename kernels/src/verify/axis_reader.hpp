#pragma once

#include <ooc/histogram_2d.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "verify/plain_records.hpp"

// Shared by the checks of histograms of pairs and of weights.

namespace ooc::detail::plain {

/// Reads the numbers of an axis one after another.
class AxisReader {
 public:
  explicit AxisReader(const PairAxis& axis)
      : axis_(axis),
        number_(number_in(axis.column, axis.source)),
        reader_(axis.source, elements_of_record(axis)) {}

  const PairAxis& axis() const { return axis_; }
  std::uint64_t records() const { return reader_.records(); }
  std::size_t record_bytes() const { return reader_.record_bytes(); }
  double lowest() const { return lowest_; }  // of the finite numbers so far
  double highest() const { return highest_; }

  std::vector<double> next(std::uint64_t count) {
    const std::vector<std::byte> records = reader_.next(count);
    std::vector<double> values;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto record = std::span(records).subspan(i * record_bytes(), record_bytes());
      const auto value = static_cast<double>(number_.value_in(record));
      values.push_back(value);
      if (!std::isfinite(value)) continue;
      lowest_ = std::min(lowest_, value);
      highest_ = std::max(highest_, value);
    }
    return values;
  }

 private:
  static std::uint64_t elements_of_record(const PairAxis& axis) {
    const bool is_struct = axis.source.type() && axis.source.type()->is_struct();
    const bool by_row = !axis.column.empty() && !is_struct;
    return by_row ? axis.source.columns().value_or(1) : 1;
  }

  const PairAxis& axis_;
  NumberInRecord number_;
  RecordReader reader_;
  double lowest_ = std::numeric_limits<double>::infinity();
  double highest_ = -std::numeric_limits<double>::infinity();
};

}  // namespace ooc::detail::plain
