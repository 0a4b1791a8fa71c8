#include <ooc/convert.hpp>
#include <ooc/matmul.hpp>

#include "matmul/plan/schedule.hpp"

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "io/dataset/npy_text.hpp"
#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/faulty_engine.hpp"
#include "support/matrices.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using Shape = test::ProductShape;
using test::plain_product;

template <class T>
std::vector<T> integers(std::uint64_t count, unsigned seed) {
  return test::random_integers<T>(1, count, seed).values;
}

template <class T>
std::vector<T> read_values(const std::filesystem::path& path, std::size_t header_bytes = 0) {
  const std::string text = test::read_whole(path);
  std::vector<T> values((text.size() - header_bytes) / sizeof(T));
  std::memcpy(values.data(), text.data() + header_bytes, values.size() * sizeof(T));
  return values;
}

class MatmulTest : public testing::TestWithParam<DeviceKind> {
 protected:
  template <class T>
  Source matrix(const std::string& name, const std::vector<T>& values, std::uint64_t rows,
                std::uint64_t columns) {
    const auto path = dir_.path() / name;
    test::write_file(path, values);
    return open_matrix(path, {element_type_of<T>(), false}, rows, columns);
  }

  static Source open_matrix(const std::filesystem::path& path, DType type, std::uint64_t rows,
                            std::uint64_t columns) {
    Source source = open(path, {.type = type});
    source.set_shape({rows, columns});
    return source;
  }

  Coordinator coordinator(Options options = {}) const {
    return Coordinator(make_device(GetParam()), std::move(options));
  }

  Target target(const std::string& name = "c.raw") const {
    return {.path = dir_.path() / name, .replace = true};
  }

  test::TempDir dir_;
};

/// Limits that make the product of a few hundred rows too large for the device.
Options limited(std::size_t device_bytes, std::size_t chunk_bytes = 0) {
  return {.chunk_bytes = chunk_bytes, .memory_bytes = 64 * MiB, .device_bytes = device_bytes};
}

TEST_P(MatmulTest, IsExactForIntegersOfAnyShapeAndLimit) {
  OOC_SKIP_WITHOUT(GetParam());
  double largest = 0;
  for (const Shape& shape :
       {Shape{1, 1, 1}, Shape{7, 1, 5}, Shape{1, 300, 1}, Shape{257, 31, 1}, Shape{1, 129, 263},
        Shape{300, 300, 300}, Shape{1009, 17, 23}, Shape{13, 21, 2003}, Shape{11, 4001, 7},
        Shape{512, 64, 512}, Shape{127, 513, 255}}) {
    const auto a = integers<float>(shape.rows * shape.inner, 1);
    const auto b = integers<float>(shape.inner * shape.columns, 2);
    const auto expected = plain_product(a, b, shape);
    const Source source_a = matrix("a.f32", a, shape.rows, shape.inner);
    const Source source_b = matrix("b.f32", b, shape.inner, shape.columns);
    for (const std::size_t device_bytes : {1 * GiB, 1 * MiB, 256 * KiB, 96 * KiB}) {
      for (const std::size_t chunk_bytes : {std::size_t{0}, 16 * KiB}) {
        Coordinator c = coordinator(limited(device_bytes, chunk_bytes));
        const auto [product, stats] = matmul(c, source_a, source_b, target());
        EXPECT_EQ(read_values<float>(target().path), expected)
            << shape.rows << " " << shape.inner << " " << shape.columns << " " << device_bytes;
        EXPECT_EQ(product.link_bytes, product.plan.link_bytes);
        EXPECT_EQ(product.bytes_read, product.plan.bytes_read);
        EXPECT_EQ(stats.outcome.bytes_written, product.plan.bytes_written);
        EXPECT_LE(product.plan.device_bytes, device_bytes);
        const product::Problem problem{shape.rows, shape.columns, shape.inner, 4, 4, 4};
        const double bound = product::traffic_bound(problem, static_cast<double>(device_bytes));
        EXPECT_LE(static_cast<double>(product.link_bytes), bound);
        EXPECT_LE(static_cast<double>(product.bytes_read), bound);
        largest = std::max(largest, static_cast<double>(product.link_bytes) / bound);
      }
    }
  }
  std::cout << "the largest ratio of bytes over the link to their bound is " << largest << '\n';
}

TEST_P(MatmulTest, KeepsTheByteOrderAndTheFormatAskedFor) {
  OOC_SKIP_WITHOUT(GetParam());
  const Shape shape{70, 50, 90};
  auto a = integers<double>(shape.rows * shape.inner, 1);
  auto b = integers<double>(shape.inner * shape.columns, 2);
  const auto expected = plain_product(a, b, shape);
  const auto swap = [](std::vector<double>& values) {
    for (double& value : values) {
      value = std::bit_cast<double>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
    }
  };
  swap(a);
  swap(b);
  test::write_file(dir_.path() / "a.raw", a);
  test::write_file(dir_.path() / "b.raw", b);
  const DType swapped{ElementType::f8, true};
  const Source source_a = open_matrix(dir_.path() / "a.raw", swapped, shape.rows, shape.inner);
  const Source source_b = open_matrix(dir_.path() / "b.raw", swapped, shape.inner, shape.columns);
  Coordinator c = coordinator(limited(64 * KiB));
  Target out = target("c.npy");
  out.type = swapped;
  const auto [product, stats] = matmul(c, source_a, source_b, out);
  EXPECT_EQ(product.plan.precision, Precision::f64);
  const Source written = open(out.path);
  EXPECT_EQ(*written.type(), swapped);
  EXPECT_EQ(std::vector(written.shape().begin(), written.shape().end()),
            (std::vector<std::uint64_t>{shape.rows, shape.columns}));
  auto values = read_values<double>(out.path, 4096);
  swap(values);
  EXPECT_EQ(values, expected);
}

/// Returns the largest ratio of |C - exact| to its bound (2 u_in + gamma_(k + p)) |A||B|, with p
/// panels along `inner`.
template <class T>
double largest_ratio(const std::vector<double>& c, const std::vector<T>& a, const std::vector<T>& b,
                     const Shape& s, double unit_in, double unit, double panels) {
  const double terms = static_cast<double>(s.inner) + panels;
  const double gamma = terms * unit / (1 - terms * unit);
  double largest = 0;
  for (std::uint64_t i = 0; i < s.rows; ++i) {
    for (std::uint64_t j = 0; j < s.columns; ++j) {
      long double exact = 0, magnitude = 0;
      for (std::uint64_t k = 0; k < s.inner; ++k) {
        const long double term = static_cast<long double>(to_double(a[i * s.inner + k])) *
                                 static_cast<long double>(to_double(b[k * s.columns + j]));
        exact += term;
        magnitude += std::abs(term);
      }
      const long double difference = std::abs(c[i * s.columns + j] - exact);
      if (difference == 0) continue;
      const long double bound = (2 * unit_in + gamma) * magnitude;
      largest = std::max(largest, static_cast<double>(difference / bound));
    }
  }
  return largest;
}

struct PrecisionCase {
  Precision precision;
  double unit_in;  // of rounding f4 operands
  double unit;     // of the sums
};

TEST_P(MatmulTest, KeepsToTheErrorBoundOfItsPrecision) {
  OOC_SKIP_WITHOUT(GetParam());
  const Shape shape{150, 700, 130};
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> a(shape.rows * shape.inner), b(shape.inner * shape.columns);
  std::ranges::generate(a, [&] { return normal(random); });
  std::ranges::generate(b, [&] { return normal(random); });
  const Source source_a = matrix("a.f32", a, shape.rows, shape.inner);
  const Source source_b = matrix("b.f32", b, shape.inner, shape.columns);
  for (const PrecisionCase& each :
       {PrecisionCase{Precision::f32, 0, 0x1p-24}, PrecisionCase{Precision::f64, 0, 0x1p-53},
        PrecisionCase{Precision::tf32, 0x1p-11, 0x1p-23},
        PrecisionCase{Precision::bf16, 0x1p-8, 0x1p-23}}) {
    const bool on_tensor_cores =
        each.precision == Precision::tf32 || each.precision == Precision::bf16;
    if (on_tensor_cores && GetParam() == DeviceKind::cpu) continue;
    for (const std::size_t device_bytes : {1 * GiB, 256 * KiB}) {
      Coordinator c = coordinator(limited(device_bytes));
      const auto [product, stats] =
          matmul(c, source_a, source_b, target(), {.precision = each.precision});
      std::vector<double> values;
      if (each.precision == Precision::f64) {
        values = read_values<double>(target().path);
      } else {
        for (const float value : read_values<float>(target().path)) values.push_back(value);
      }
      const double panels = std::ceil(static_cast<double>(shape.inner) /
                                      static_cast<double>(product.plan.tile_inner));
      const double ratio = largest_ratio(values, a, b, shape, each.unit_in, each.unit, panels);
      EXPECT_LE(ratio, 1);
      std::cout << name_of(each.precision) << " with " << device_bytes / KiB
                << " KiB: largest error " << ratio << " of its bound\n";
    }
  }
}

TEST_P(MatmulTest, AddsUpHalfPrecisionInSingle) {
  OOC_SKIP_WITHOUT(GetParam());
  const Shape shape{40, 3000, 30};
  std::mt19937 random(6);
  std::vector<Float16> a(shape.rows * shape.inner), b(shape.inner * shape.columns);
  const auto half = [&] { return Float16{static_cast<std::uint16_t>(0x3000 + random() % 0x800)}; };
  std::ranges::generate(a, half);
  std::ranges::generate(b, half);
  const Source source_a = matrix("a.f16", a, shape.rows, shape.inner);
  const Source source_b = matrix("b.f16", b, shape.inner, shape.columns);
  for (const std::size_t device_bytes : {1 * GiB, 128 * KiB}) {
    Coordinator c = coordinator(limited(device_bytes));
    const auto [product, stats] = matmul(c, source_a, source_b, target());
    EXPECT_EQ(product.plan.type.element, ElementType::f4);
    std::vector<double> values;
    for (const float value : read_values<float>(target().path)) values.push_back(value);
    const double ratio = largest_ratio(values, a, b, shape, 0, 0x1p-23, 64);
    EXPECT_LE(ratio, 1);
  }
}

TEST_P(MatmulTest, CarriesNanAndInfinity) {
  OOC_SKIP_WITHOUT(GetParam());
  const Shape shape{100, 60, 80};
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto a = integers<float>(shape.rows * shape.inner, 1);
  auto b = integers<float>(shape.inner * shape.columns, 2);
  std::ranges::replace(a, 0.0f, 1.0f);
  std::ranges::replace(b, 0.0f, 1.0f);
  a[3 * shape.inner + 7] = std::numeric_limits<float>::quiet_NaN();
  b[20 * shape.columns + 9] = infinity;
  const auto expected = plain_product(a, b, shape);
  const Source source_a = matrix("a.f32", a, shape.rows, shape.inner);
  const Source source_b = matrix("b.f32", b, shape.inner, shape.columns);
  for (const std::size_t device_bytes : {1 * GiB, 96 * KiB}) {
    Coordinator c = coordinator(limited(device_bytes));
    matmul(c, source_a, source_b, target());
    const auto values = read_values<float>(target().path);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_TRUE(values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i])))
          << i << ": " << values[i] << ", not " << expected[i];
    }
  }
}

TEST_P(MatmulTest, OfNothingIsZero) {
  OOC_SKIP_WITHOUT(GetParam());
  const Source a = matrix("a.f32", std::vector<float>{}, 3, 0);
  const Source b = matrix("b.f32", std::vector<float>{}, 0, 2);
  Coordinator c = coordinator();
  matmul(c, a, b, target());
  EXPECT_EQ(read_values<float>(target().path), std::vector<float>(6));
}

struct NoBytes : Producer {
  std::size_t fill(std::span<std::byte>, const std::stop_token&) override { return 0; }
};

TEST_P(MatmulTest, RefusesWhatDoesNotFitTogether) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator c = coordinator();
  const auto refuse = [&](ErrorKind kind, const std::string& what, const Source& a,
                          const Source& b) {
    try {
      matmul(c, a, b, target());
      ADD_FAILURE() << "did not refuse: " << what;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  const Source a = matrix("a.f32", std::vector<float>(6), 2, 3);
  const Source b = matrix("b.f32", std::vector<float>(6), 2, 3);
  refuse(ErrorKind::bad_input, "cannot be multiplied", a, b);
  const Source doubles = matrix("d.f64", std::vector<double>(6), 3, 2);
  refuse(ErrorKind::bad_input, "holds <f8", a, doubles);
  const Source bytes = matrix("b.u8", std::vector<std::uint8_t>(6), 3, 2);
  refuse(ErrorKind::bad_input, "holds uint8", bytes, bytes);
  const Source small = matrix("s.f32", std::vector<float>(5), 3, 2);
  refuse(ErrorKind::bad_input, "5 elements, not the 3 x 2", a, small);
  const std::string header = test::header_of("'<f4'", "True", "(3, 2)");
  const Source by_columns = open(dir_.write("f.npy", test::npy(header, 24)), {.by_columns = true});
  refuse(ErrorKind::bad_input, "Fortran order", a, by_columns);
  const Source stream = produced(std::make_unique<NoBytes>(), {ElementType::f4});
  refuse(ErrorKind::bad_input, "the producer: can be read once", a, stream);
  EXPECT_EQ(dir_.names(),
            (std::vector<std::string>{"a.f32", "b.f32", "b.u8", "d.f64", "f.npy", "s.f32"}));
}

TEST(ProductType, IsThatOfTheFileThatAProductWrites) {
  const test::TempDir dir;
  Coordinator coordinator(make_device(DeviceKind::cpu));
  const Target target{.path = dir.path() / "c.npy", .replace = true};
  const auto expect = [&](ElementType product, ElementType operand, const MatmulOptions& options) {
    const auto path = dir.write("a.raw", std::string(size_of(operand), '\0'));
    Source one = open(path, {.type = DType{operand}});
    one.set_shape({1, 1});
    EXPECT_EQ(product_type(one, options), product);
    matmul(coordinator, one, one, target, options);
    EXPECT_EQ(open(target.path).type(), DType{product}) << name_of(operand);
  };
  using enum ElementType;
  expect(f4, f4, {});
  expect(f4, f2, {});
  expect(f4, bf16, {});
  expect(f8, f8, {});
  expect(f8, f4, {.precision = Precision::f64});
  expect(f4, f8, {.precision = Precision::f32});
  EXPECT_THROW(product_type(open_bytes(dir.path() / "a.raw")), Error);
}

TEST_P(MatmulTest, RefusesLimitsTooLowForOnePanel) {
  OOC_SKIP_WITHOUT(GetParam());
  const Source a = matrix("a.f32", std::vector<float>(10'000), 100, 100);
  Coordinator c = coordinator(limited(8));
  EXPECT_THROW(
      {
        try {
          matmul(c, a, a, target());
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::memory) << error.what();
          throw;
        }
      },
      Error);
  EXPECT_EQ(dir_.names(), std::vector<std::string>{"a.f32"});
}

TEST_P(MatmulTest, KeepsToTheLimitsAfterOtherPasses) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto values = integers<float>(90'000, 1);
  const Source a = matrix("a.f32", values, 300, 300);
  Coordinator c = coordinator({.memory_bytes = 48 * MiB, .device_bytes = 48 * MiB});
  const auto expected = plain_product(values, values, {300, 300, 300});
  for (int pass = 0; pass < 2; ++pass) {
    convert(c, a, {.path = dir_.path() / "a.f64", .type = {ElementType::f8}, .replace = true});
    matmul(c, a, a, target());
    EXPECT_EQ(read_values<float>(target().path), expected);
  }
}

TEST_P(MatmulTest, LeavesTheOldFileWholeWhenItFails) {
  OOC_SKIP_WITHOUT(GetParam());
  const Source a = matrix("a.f32", integers<float>(90'000, 1), 300, 300);
  test::write_file(target().path, std::vector<float>{1, 2, 3});
  for (const bool writes : {false, true}) {
    for (const std::size_t good : {0u, 3u}) {
      Options options = limited(256 * KiB, 16 * KiB);
      options.make_engine = [&](const EngineOptions& wanted) -> std::unique_ptr<Engine> {
        auto engine = make_engine(wanted);
        if (wanted.writes != writes) return engine;
        return std::make_unique<test::FaultyEngine>(std::move(engine), good, [] {
          throw Error(ErrorKind::internal, "the fault of this test");
        });
      };
      Coordinator c = coordinator(options);
      EXPECT_THROW(matmul(c, a, a, target()), Error);
      EXPECT_EQ(read_values<float>(target().path), (std::vector<float>{1, 2, 3}));
      EXPECT_EQ(dir_.names(), (std::vector<std::string>{"a.f32", "c.raw"}));
    }
  }
  std::stop_source stop;
  stop.request_stop();
  Coordinator c = coordinator(limited(256 * KiB));
  EXPECT_THROW(matmul(c, a, a, target(), {}, {.stop = stop.get_token()}), Error);
  EXPECT_EQ(read_values<float>(target().path), (std::vector<float>{1, 2, 3}));
}

INSTANTIATE_TEST_SUITE_P(Devices, MatmulTest, test::all_devices, test::device_name);

}  // namespace
}  // namespace ooc::detail
