#include "gemm/gemm.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/kernels/blas.hpp>
#include <ooc/error.hpp>
#include <ooc/memory.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "support/devices.hpp"
#include "support/matrices.hpp"
#include "support/special_values.hpp"

namespace ooc::detail::gemm {
namespace {

using test::multiply_plainly;
using test::nan_matrix;
using test::random_integers;
using HostMatrix = test::Matrix<double>;

struct Way {
  Precision precision;
  ElementType operand;
};

std::vector<Way> ways_of(DeviceKind device) {
  std::vector<Way> ways{{Precision::f32, ElementType::f4}, {Precision::f64, ElementType::f8}};
  if (device == DeviceKind::cuda) {
    ways.insert(ways.end(), {{Precision::f32, ElementType::f2},
                             {Precision::f32, ElementType::bf16},
                             {Precision::tf32, ElementType::f4},
                             {Precision::tf32, ElementType::f2},
                             {Precision::bf16, ElementType::bf16}});
  }
  return ways;
}

class GemmTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    OOC_SKIP_WITHOUT(GetParam());
    device_ = make_device(GetParam());
    stream_ = device_->make_stream();
    workspace_ = Buffer(device_->device_memory(), workspace_bytes(GetParam(), 64 * MiB));
  }

  std::unique_ptr<Gemm> make(Way way) {
    return make_gemm(GetParam(), way.precision, way.operand, {workspace_.data(), workspace_.size()},
                     2);
  }

  Buffer upload(const HostMatrix& matrix, ElementType type) {
    const std::size_t element = size_of(type);
    std::vector<std::byte> bytes(matrix.values.size() * element);
    for (std::size_t i = 0; i < matrix.values.size(); ++i) {
      const std::uint64_t bits = test::bits_of(matrix.values[i], type);
      std::memcpy(bytes.data() + i * element, &bits, element);
    }
    Buffer buffer(device_->device_memory(), bytes.size() + 1);  // never empty
    stream_->copy(buffer.data(), bytes.data(), bytes.size());
    stream_->synchronize();
    return buffer;
  }

  void download(const Buffer& buffer, ElementType type, HostMatrix& matrix) {
    std::vector<std::byte> bytes(matrix.values.size() * size_of(type));
    stream_->copy(bytes.data(), buffer.data(), bytes.size());
    stream_->synchronize();
    for (std::size_t i = 0; i < matrix.values.size(); ++i) {
      matrix.values[i] = type == ElementType::f8
                             ? reinterpret_cast<const double*>(bytes.data())[i]
                             : double{reinterpret_cast<const float*>(bytes.data())[i]};
    }
  }

  /// Computes C = A B, or C += A B, on the device, with the initial values of `c`.
  void multiply(Way way, const HostMatrix& a, const HostMatrix& b, HostMatrix& c, bool accumulate) {
    const ElementType product = product_type(way.precision);
    const Buffer a_memory = upload(a, way.operand);
    const Buffer b_memory = upload(b, way.operand);
    const Buffer c_memory = upload(c, product);
    make(way)->multiply(*stream_, {a_memory.data(), a.stride}, {b_memory.data(), b.stride},
                        {c_memory.data(), c.stride}, {c.rows, c.columns, a.columns}, accumulate);
    download(c_memory, product, c);
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  Buffer workspace_;
};

INSTANTIATE_TEST_SUITE_P(Device, GemmTest, test::all_devices, test::device_name);

/// Expects equal values, and NaN where NaN is expected, between the rows too.
void expect_same(const HostMatrix& found, const HostMatrix& expected) {
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const double value = found.values[i];
    const double wanted = expected.values[i];
    ASSERT_TRUE(value == wanted || (std::isnan(value) && std::isnan(wanted)))
        << "element " << i << ": " << value << " instead of " << wanted;
  }
}

TEST_P(GemmTest, ProductsOfIntegersAreExact) {
  constexpr std::array<ProductShape, 9> shapes{{{1, 1, 1},
                                                {1, 97, 13},
                                                {97, 1, 13},
                                                {13, 97, 1},
                                                {64, 64, 64},
                                                {101, 103, 107},
                                                {7, 300, 513},
                                                {300, 7, 513},
                                                {129, 255, 385}}};
  for (const Way way : ways_of(GetParam())) {
    for (const auto [rows, columns, inner] : shapes) {
      for (const std::uint64_t padding : {0, 5}) {
        SCOPED_TRACE(std::string(name_of(way.precision)) + " of " +
                     std::string(name_of(way.operand)) + ", " + std::to_string(rows) + " x " +
                     std::to_string(columns) + " x " + std::to_string(inner) + ", padding " +
                     std::to_string(padding));
        const HostMatrix a = random_integers<double>(rows, inner, 1, padding);
        const HostMatrix b = random_integers<double>(inner, columns, 2, 2 * padding);
        HostMatrix expected = nan_matrix<double>(rows, columns, 3 * padding);
        HostMatrix found = expected;  // all NaN, which must not get into the product
        multiply_plainly(a, b, expected, false);
        multiply(way, a, b, found, false);
        expect_same(found, expected);
        multiply_plainly(a, b, expected, true);
        multiply(way, a, b, found, true);
        expect_same(found, expected);
      }
    }
  }
}

TEST_P(GemmTest, SumsOfNothingAreZero) {
  for (const Way way : ways_of(GetParam())) {
    HostMatrix found = nan_matrix<double>(3, 5, 2);
    multiply(way, nan_matrix<double>(3, 0), nan_matrix<double>(0, 5), found, false);
    for (std::uint64_t i = 0; i < 3; ++i) {
      for (std::uint64_t j = 0; j < 5; ++j) EXPECT_EQ(found.at(i, j), 0);
      EXPECT_TRUE(std::isnan(found.at(i, 5)));
    }
    HostMatrix kept = random_integers<double>(3, 5, 3, 2);
    multiply(way, nan_matrix<double>(3, 0), nan_matrix<double>(0, 5), kept, true);
    expect_same(kept, random_integers<double>(3, 5, 3, 2));
  }
}

TEST_P(GemmTest, WithoutRowsOrColumnsThereIsNothingToDo) {
  for (const Way way : ways_of(GetParam())) {
    HostMatrix no_rows = nan_matrix<double>(0, 5);
    multiply(way, nan_matrix<double>(0, 4), random_integers<double>(4, 5, 1), no_rows, false);
    HostMatrix no_columns = nan_matrix<double>(5, 0, 2);
    multiply(way, random_integers<double>(5, 4, 1), nan_matrix<double>(4, 0), no_columns, false);
    expect_same(no_columns, nan_matrix<double>(5, 0, 2));
  }
}

TEST_P(GemmTest, CarriesNanAndInfinity) {
  for (const Way way : ways_of(GetParam())) {
    HostMatrix a = random_integers<double>(33, 40, 1);
    HostMatrix b = random_integers<double>(40, 35, 2);
    a.at(3, 7) = test::nan;         // makes row 3 NaN
    a.at(5, 9) = test::infinity;    // changes row 5 by the signs of row 9 of B
    b.at(11, 4) = -test::infinity;  // changes column 4 by the signs of column 11 of A
    HostMatrix expected = nan_matrix<double>(33, 35);
    HostMatrix found = expected;
    multiply_plainly(a, b, expected, false);
    multiply(way, a, b, found, false);
    expect_same(found, expected);
  }
}

/// The values need all bits of f32, so tf32 in its place would round them.
TEST_P(GemmTest, F32KeepsAllItsBits) {
  HostMatrix a = nan_matrix<double>(64, 64);
  HostMatrix b = nan_matrix<double>(64, 64);
  for (std::uint64_t i = 0; i < 64; ++i) {
    for (std::uint64_t j = 0; j < 64; ++j) {
      a.at(i, j) = i == j ? 1 : 0;
      b.at(i, j) = 1 + static_cast<double>(1 + i) * 0x1p-23;
    }
  }
  HostMatrix found = nan_matrix<double>(64, 64);
  multiply({Precision::f32, ElementType::f4}, a, b, found, false);
  expect_same(found, b);
}

TEST_P(GemmTest, SaysWhichLibraryItIs) {
  const std::string name = make({Precision::f32, ElementType::f4})->name();
  const std::string wanted = GetParam() == DeviceKind::cpu ? "OpenBLAS " : "cuBLAS ";
  EXPECT_EQ(name.substr(0, wanted.size()), wanted);
  EXPECT_EQ(name.find_first_not_of("0123456789.", wanted.size()), std::string::npos) << name;
  EXPECT_GT(name.size(), wanted.size());
}

TEST(Gemm, RefusesTensorCoresOnTheCpu) {
  for (const Precision precision : {Precision::tf32, Precision::bf16}) {
    test::expect_error(ErrorKind::usage, "needs a GPU",
                       [&] { make_gemm(DeviceKind::cpu, precision, ElementType::f4, {}, 1); });
  }
}

TEST(Gemm, OpenBlasRefusesRowsThatItCannotCount) {
  const auto device = make_device(DeviceKind::cpu);
  const auto stream = device->make_stream();
  const auto gemm = make_gemm(DeviceKind::cpu, Precision::f32, ElementType::f4, {}, 1);
  test::expect_error(ErrorKind::bad_input, "2147483647", [&] {
    gemm->multiply(*stream, {nullptr, std::uint64_t{1} << 31}, {nullptr, 1}, {nullptr, 1},
                   {1, 1, std::uint64_t{1} << 31}, false);
  });
}

TEST(Gemm, OperandsLoseNothingThatTheComputationKeeps) {
  using enum ElementType;
  for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
    for (const ElementType file : {f2, bf16, f4, f8}) {
      EXPECT_EQ(operand_type(device, Precision::f64, file), f8);
      EXPECT_EQ(operand_type(device, Precision::bf16, file), bf16);
    }
    EXPECT_EQ(operand_type(device, Precision::f32, f4), f4);
    EXPECT_EQ(operand_type(device, Precision::f32, f8), f4);
    EXPECT_EQ(operand_type(device, Precision::tf32, f4), f4);
  }
  for (const Precision precision : {Precision::f32, Precision::tf32}) {
    for (const ElementType file : {f2, bf16}) {
      EXPECT_EQ(operand_type(DeviceKind::cpu, precision, file), f4);
      EXPECT_EQ(operand_type(DeviceKind::cuda, precision, file), file);
    }
  }
  EXPECT_EQ(product_type(Precision::f64), f8);
  for (const Precision precision : {Precision::f32, Precision::tf32, Precision::bf16}) {
    EXPECT_EQ(product_type(precision), f4);
  }
}

TEST(Gemm, TheWorkspaceIsAPartOfTheBudget) {
  EXPECT_EQ(workspace_bytes(DeviceKind::cpu, 100 * GiB), 0u);
  EXPECT_EQ(workspace_bytes(DeviceKind::cuda, 100 * GiB), 32 * MiB);
  EXPECT_EQ(workspace_bytes(DeviceKind::cuda, 64 * MiB), 4 * MiB);
  EXPECT_EQ(workspace_bytes(DeviceKind::cuda, 1000 * 1000), 62'464u);
  EXPECT_EQ(workspace_bytes(DeviceKind::cuda, 0), 16 * KiB);
}

TEST(CpuBlas, HasANameAndAVersion) {
  try {
    EXPECT_TRUE(cpu_blas().starts_with("OpenBLAS "));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_FALSE(error.details().hint.empty());
  }
}

}  // namespace
}  // namespace ooc::detail::gemm
