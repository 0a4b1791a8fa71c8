#include "matmul/prepare.hpp"

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/target.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "support/data_file.hpp"
#include "support/late_device.hpp"
#include "support/matrices.hpp"
#include "support/temp_dir.hpp"

// Tests products on a device that does copies and products as late as its events allow. If one of
// the waits between its three streams were missing, a panel would be multiplied before it is
// loaded, or a tile copied to the host before it is computed.

namespace ooc::detail::product {
namespace {

/// Adds each product to the work of a LateStream.
class LateGemm final : public gemm::Gemm {
 public:
  void multiply(Stream& stream, gemm::Matrix<const std::byte> a, gemm::Matrix<const std::byte> b,
                gemm::Matrix<std::byte> c, gemm::ProductShape sizes, bool accumulate) override {
    dynamic_cast<test::LateStream&>(stream).add([=] {
      const auto* const left = reinterpret_cast<const float*>(a.data);
      const auto* const right = reinterpret_cast<const float*>(b.data);
      auto* const product = reinterpret_cast<float*>(c.data);
      for (std::uint64_t i = 0; i < sizes.rows; ++i) {
        for (std::uint64_t j = 0; j < sizes.columns; ++j) {
          float sum = accumulate ? product[i * c.stride + j] : 0;
          for (std::uint64_t k = 0; k < sizes.inner; ++k) {
            sum += left[i * a.stride + k] * right[k * b.stride + j];
          }
          product[i * c.stride + j] = sum;
        }
      }
    });
  }
  std::string name() const override { return "late"; }
};

using Shape = test::ProductShape;

class LateMatmulTest : public testing::Test {
 protected:
  /// Writes a matrix of small integers, so that all sums are exact.
  Source matrix(const std::string& name, std::uint64_t rows, std::uint64_t columns) {
    std::vector<float> values(rows * columns);
    for (float& value : values) value = static_cast<float>(random_() % 15) - 7;
    test::write_file(dir_.path() / name, values);
    Source source = open(dir_.path() / name, {.type = DType{ElementType::f4}});
    source.set_shape({rows, columns});
    return source;
  }

  static std::vector<float> values_of(const std::filesystem::path& path) {
    const std::string text = test::read_whole(path);
    std::vector<float> values(text.size() / sizeof(float));
    std::memcpy(values.data(), text.data(), text.size());
    return values;
  }

  std::vector<float> expected(const Shape& shape) const {
    return test::plain_product(values_of(dir_.path() / "a"), values_of(dir_.path() / "b"), shape);
  }

  /// Multiplies on a LateDevice, with the schedule for these limits of device and host memory.
  std::vector<float> multiply_late(const Shape& shape, const Limits& limits,
                                   test::Lateness lateness) {
    const Source a = matrix("a", shape.rows, shape.inner);
    const Source b = matrix("b", shape.inner, shape.columns);
    const Options options{.streams = 2, .memory_bytes = 64 * MiB};
    const auto planner = make_device(DeviceKind::cpu);
    ProductJob job =
        prepare({.device = *planner, .options = options}, {a, b, Precision::f32, {ElementType::f4}},
                {.rows = shape.rows, .columns = shape.columns})
            .job;
    job.schedule = make_schedule(job.problem, limits, {});
    std::set<std::int32_t> sent;  // entries of the cache
    for (const Load& load : job.schedule.loads) {
      if (load.from != none) sent.insert(load.from);
      if (load.keep != none) entries_overwritten_ += sent.erase(load.keep);
    }
    TargetFile file({.path = dir_.path() / "c", .type = {ElementType::f4}, .replace = true},
                    shape.rows * shape.columns, std::array{&a, &b});
    test::LateDevice late(std::move(lateness));
    LateGemm gemm;
    Stats stats;
    ProductProgress progress;
    run_product({.device = late, .options = options}, job, gemm, file, {}, stats, progress);
    std::vector<float> found(shape.rows * shape.columns);  // not committed: a disk would take long
    EXPECT_EQ(::pread(file.buffered(), found.data(), found.size() * sizeof(float), 0),
              static_cast<ssize_t>(found.size() * sizeof(float)));
    return found;
  }

  std::size_t entries_overwritten_ = 0;  // after they were sent to the device
  std::mt19937 random_{1};
  test::TempDir dir_;
};

constexpr std::array small_shapes{Shape{96, 80, 112}, Shape{33, 200, 17}, Shape{150, 9, 64},
                                  Shape{200, 150, 250}};
constexpr std::array<std::uint64_t, 3> device_kib{8, 24, 96};

TEST_F(LateMatmulTest, WaitsForAllThatComesLate) {
  for (const Shape& shape : small_shapes) {
    for (const std::uint64_t kib : device_kib) {
      for (const std::uint64_t cache_kib : {0, 4, 16, 48}) {
        const Limits limits{.device_bytes = kib * KiB, .cache_bytes = cache_kib * KiB};
        const std::vector<float> found = multiply_late(shape, limits, {});
        EXPECT_EQ(found, expected(shape))
            << shape.rows << ' ' << shape.inner << ' ' << shape.columns << ' ' << kib << " KiB";
      }
    }
  }
  EXPECT_GT(entries_overwritten_, 0u) << "no wait for the cache is tested";
}

TEST_F(LateMatmulTest, WaitsForAllThatComesAtAnyTime) {
  for (const Shape& shape : small_shapes) {
    for (unsigned seed = 0; seed < 8; ++seed) {
      auto random = std::make_shared<std::mt19937>(seed);
      const test::Lateness lateness{.eagerness = [random] { return (*random)() % 3; }};
      const Limits limits{.device_bytes = 16 * KiB, .cache_bytes = seed % 2 * 32 * KiB};
      const std::vector<float> found = multiply_late(shape, limits, lateness);
      EXPECT_EQ(found, expected(shape)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace ooc::detail::product
