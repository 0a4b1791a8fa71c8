#include "distinct/bitmap.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/distinct.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "distinct/find_distinct.hpp"
#include "support/devices.hpp"
#include "support/values_file.hpp"

namespace ooc::detail {
namespace {

constexpr std::size_t roomy = 8 * GiB;

struct NoElements final : Producer {
  std::size_t fill(std::span<std::byte>, const std::stop_token&) override { return 0; }
};

class BitmapTest : public testing::TestWithParam<DeviceKind>, protected test::ValuesFile {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Devices, BitmapTest, test::all_devices, test::device_name);

// A GPU without memory for a bitmap has tables.
TEST_P(BitmapTest, InABitmapIfThereIsMemory) {
  const std::vector<std::uint32_t> values = test::random_bits<std::uint32_t>(300'000);
  Coordinator coordinator(make_device(GetParam()),
                          {.chunk_bytes = MiB, .streams = 2, .device_bytes = 40 * MiB});
  const distincts::FindDistinct<std::uint32_t> find({}, {16 * MiB, distincts::Place::bitmap});
  const Source source = source_of(values);
  EXPECT_EQ(fold(coordinator, find, source).value.distinct,
            distinct(coordinator, source, {.counts = 1}).value.distinct);
}

TEST_P(BitmapTest, AreMarkedInABitmapWhereATableWouldBeLarger) {
  const std::filesystem::path path = this->path();
  std::ofstream{path}.close();
  std::filesystem::resize_file(path, 128 * MiB);
  const auto bytes_of = [&](ElementType type, const DistinctOptions& options = {},
                            const Options& machine = {.memory_bytes = roomy},
                            const PassOptions& wanted = {}) {
    return distinct_table_bytes(machine, open(path, {.type = DType{type}}), options, wanted);
  };
  constexpr std::size_t bitmap = distincts::Bitmap::bytes;
  EXPECT_EQ(bytes_of(ElementType::u4), bitmap);
  EXPECT_EQ(bytes_of(ElementType::f4), bitmap);
  EXPECT_NE(bytes_of(ElementType::u8), bitmap);
  EXPECT_NE(bytes_of(ElementType::u4, {.counts = 1}), bitmap);
  EXPECT_EQ(bytes_of(ElementType::u4, {.estimate = true}), 0u);
  EXPECT_LT(bytes_of(ElementType::u4, {}, {.memory_bytes = 500 * MiB}), bitmap);
  EXPECT_EQ(bytes_of(ElementType::u4, {}, {.memory_bytes = 520 * MiB}), bitmap);
  const Source stream = produced(std::make_unique<NoElements>(), {ElementType::u4});
  EXPECT_NE(distinct_table_bytes({.memory_bytes = roomy}, stream), bitmap);
  // Values that are saved or merged have to be in a table.
  EXPECT_GT(
      bytes_of(ElementType::u4, {}, {.memory_bytes = roomy}, {.checkpoint = {.file = "some.ckpt"}}),
      bitmap);
  std::fstream(path, std::ios::in | std::ios::out).seekp(99 * 4) << "four";
  const Source source = open(path, {.type = DType{ElementType::u4}});
  Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 4 * MiB, .streams = 2});
  EXPECT_EQ(distinct(coordinator, source).value.distinct, 2u);
  const auto planned = [&](bool is_part) {
    return dry_run_distinct({.memory_bytes = roomy}, GetParam(), source, {}, {}, is_part)
        .layout.operator_bytes;
  };
  EXPECT_GT(planned(true), planned(false));
  const auto part = collect_distinct(coordinator, source).value;
  EXPECT_EQ(load_distinct(ElementType::u4, {}, part.save()).result().distinct, 2u);
}

}  // namespace
}  // namespace ooc::detail
