#include <ooc/execute.hpp>
#include <ooc/filter.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

struct IsEven {
  constexpr bool operator()(std::uint32_t value) const { return value % 2 == 0; }
};

struct KeepEven {
  using Input = std::uint32_t;
  using Output = std::uint32_t;

  void select(Stream& stream, DeviceChunk<const std::uint32_t> in, DeviceSpan<std::uint32_t> out,
              std::uint64_t* kept) const {
    keep_if(stream, in, out, kept, IsEven{});
  }
};

class KeepIfTest : public testing::TestWithParam<DeviceKind> {};

INSTANTIATE_TEST_SUITE_P(Devices, KeepIfTest, test::all_devices, test::device_name);

TEST_P(KeepIfTest, KeepsWhatThePredicateSays) {
  OOC_SKIP_WITHOUT(GetParam());
  const test::TempDir dir;
  for (const std::size_t count : {std::size_t{1}, std::size_t{1'000'003}}) {
    std::vector<std::uint32_t> values, even;
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(static_cast<std::uint32_t>(i * 2654435761u >> 7));
      if (values.back() % 2 == 0) even.push_back(values.back());
    }
    test::write_file(dir.path() / "values.u32", values);
    Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 1 << 20});
    const Target target{
        .path = dir.path() / "even.u32", .type = {ElementType::u4}, .replace = true};
    const auto [found, stats] =
        filter(coordinator, KeepEven{}, open(dir.path() / "values.u32"), target);
    EXPECT_EQ(found.kept, even.size());
    EXPECT_TRUE(test::read_whole(target.path) ==
                std::string(reinterpret_cast<const char*>(even.data()), even.size() * 4));
  }
}

}  // namespace
}  // namespace ooc::detail
