#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <vector>

#include "histogram/count.hpp"
#include "support/special_values.hpp"

namespace ooc::detail::binning {
namespace {

DeviceSpan<const std::byte> bytes_of(std::span<const double> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.data(), bytes.size()};
}

TEST(Extremes, CountWhatIsNotFinite) {
  const std::unique_ptr<Device> device = make_device(DeviceKind::cpu);
  const std::unique_ptr<Stream> stream = device->make_stream();
  std::vector<double> values(600, 1);
  values[0] = values[300] = values[599] = test::infinity;
  values[1] = values[598] = -test::infinity;
  values[2] = test::nan;
  const auto finder = make_cpu_finder(ElementType::f8, best_simd());
  finder->look(*stream, bytes_of(values));
  const Extremes found = finder->finish(*stream);
  EXPECT_EQ(found.positive_infinities, 3u);
  EXPECT_EQ(found.negative_infinities, 2u);
  EXPECT_EQ(found.nan, 1u);
  EXPECT_EQ(found.lowest, 1);
  EXPECT_EQ(found.highest, 1);
}

TEST(Extremes, NoFiniteValue) {
  EXPECT_FALSE(Extremes{}.any_finite());
  const std::unique_ptr<Device> device = make_device(DeviceKind::cpu);
  const std::unique_ptr<Stream> stream = device->make_stream();
  const auto finder = make_cpu_finder(ElementType::f8, best_simd());
  const std::vector<double> values(600, test::nan);
  finder->look(*stream, bytes_of(values));
  EXPECT_FALSE(finder->finish(*stream).any_finite());
}

}  // namespace
}  // namespace ooc::detail::binning
