#pragma once

#include <ooc/error.hpp>
#include <ooc/histogram.hpp>

#include <gtest/gtest.h>

#include <utility>

#include "support/devices.hpp"
#include "support/values_file.hpp"

namespace ooc::detail::test {

/// A fixture that counts the values of a file, with the device as parameter.
class HistogramOnEachDevice : public testing::TestWithParam<DeviceKind>, protected ValuesFile {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Result<Histogram> count(const Source& source, const HistogramOptions& options = {},
                          Options run = {}, const PassOptions& wanted = {}) {
    Coordinator coordinator(make_device(GetParam()), std::move(run));
    return histogram(coordinator, source, options, wanted);
  }

  void expect_error(ErrorKind kind, const Source& source, const HistogramOptions& options = {},
                    Options run = {}) {
    try {
      count(source, options, std::move(run));
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
    }
  }
};

}  // namespace ooc::detail::test
