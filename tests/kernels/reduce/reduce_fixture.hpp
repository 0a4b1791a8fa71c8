#pragma once

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/kernels/reduce.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <variant>

#include "support/bits.hpp"
#include "support/devices.hpp"
#include "support/values_file.hpp"

namespace ooc::test {

/// A fixture that computes the statistics of a file, with the device as parameter.
class ReduceTest : public testing::TestWithParam<DeviceKind>, protected test::ValuesFile {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Statistics reduce_it(const Source& source, const ReduceOptions& options = {}) {
    Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB, .streams = 3});
    return reduce(coordinator, source, options).value;
  }
};

inline std::uint64_t bits_of(const Number& value) {
  return bits_of(std::get<double>(value));
}

}  // namespace ooc::test
