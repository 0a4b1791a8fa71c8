#include "request/device_words.hpp"

#include <gtest/gtest.h>

#include <ooc/detail/device/cuda_facts.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "io/expect_error.hpp"

namespace ooc_run {
namespace {

std::vector<DeviceName> gpus(std::vector<int> ordinals) {
  std::vector<DeviceName> names;
  for (const int ordinal : ordinals) names.push_back({ooc::DeviceKind::cuda, ordinal});
  return names;
}

TEST(DeviceWords, NameOneDeviceOrSeveral) {
  EXPECT_EQ(parse_devices("auto"), std::vector<DeviceName>{});
  EXPECT_EQ(parse_devices("cpu"), std::vector{DeviceName{ooc::DeviceKind::cpu}});
  EXPECT_EQ(parse_devices("cuda"), gpus({0}));
  EXPECT_EQ(parse_devices("cuda:3"), gpus({3}));
  EXPECT_EQ(parse_devices("cuda:2,0"), gpus({2, 0}));
  std::vector<int> every;
  for (int i = 0; i < std::max(ooc::detail::visible_gpus(), 1); ++i) every.push_back(i);
  EXPECT_EQ(parse_devices("cuda:all"), gpus(every));
  std::vector<DeviceName> all = gpus(every);
  all.push_back({ooc::DeviceKind::cpu});
  EXPECT_EQ(parse_devices("all"), all);
}

TEST(DeviceWords, RefuseWhatIsNoDevice) {
  for (const std::string word : {"cuda:", "cuda:x", "cuda:-1", "cuda:0,", "cuda:,1", "cuda:0,,1",
                                 "cuda:0 1", "cuda:99999999999"}) {
    ooc::detail::test::expect_error(ooc::ErrorKind::usage, "is not the number of a GPU",
                                    [&] { parse_devices(word); });
  }
  ooc::detail::test::expect_error(ooc::ErrorKind::usage, "names a GPU twice",
                                  [] { parse_devices("cuda:0,1,0"); });
  for (const std::string word : {"gpu", "GPU", "cpu,cuda", "everything"}) {
    ooc::detail::test::expect_error(ooc::ErrorKind::usage, "", [&] { parse_devices(word); });
  }
}

}  // namespace
}  // namespace ooc_run
