#pragma once

#include <ooc/detail/base/units.hpp>
#include <ooc/reduce.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "support/bits.hpp"
#include "support/devices.hpp"
#include "support/values_file.hpp"

namespace ooc::detail::test {

/// A fixture that computes the statistics of a file, with the device as parameter.
class ReduceTest : public testing::TestWithParam<DeviceKind>, protected test::ValuesFile {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Statistics reduce_it(const Source& source, const ReduceOptions& options = {}) {
    Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB, .streams = 3});
    return reduce(coordinator, source, options).value;
  }
};

inline std::uint64_t bits_of(const Scalar& value) {
  return bits_of(std::get<double>(value));
}

/// The bits of all statistics.
inline auto bits_of(const Statistics& found) {
  const auto number = [](const Scalar& value) {
    const auto* const real = std::get_if<double>(&value);
    return real != nullptr ? std::pair{int128{0}, bits_of(*real)}
                           : std::pair{std::get<int128>(value), std::uint64_t{0}};
  };
  const auto real = [](const std::optional<double>& value) { return bits_of(value.value_or(0)); };
  return std::tuple{found.count,          found.nan,         found.inf,
                    number(found.sum),    number(found.min), number(found.max),
                    found.argmin,         found.argmax,      real(found.mean),
                    real(found.variance), real(found.stddev)};
}

}  // namespace ooc::detail::test
