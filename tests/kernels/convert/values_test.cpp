#include "convert/values.hpp"

#include <ooc/memory.hpp>
#include <ooc/reduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/convert/definition.hpp"
#include "support/all_types.hpp"
#include "support/bits.hpp"
#include "support/devices.hpp"
#include "support/special_values.hpp"

namespace ooc::detail::conversion {
namespace {

using test::from_bits;

// --- values --------------------------------------------------------------------------------------

/// Powers of two and numbers that differ from them in one or two bits: the largest and smallest
/// numbers of all types, and numbers halfway between two others.
std::vector<long double> edges() {
  std::vector<long double> values{0};
  for (int exponent = -1074; exponent <= 1023; exponent += std::abs(exponent) > 160 ? 7 : 1) {
    const long double power = std::ldexp(1.0L, exponent);
    values.push_back(power);
    for (const int bit : {1, 2, 7, 8, 9, 10, 11, 12, 15, 16, 23, 24, 25, 31, 32, 52, 53, 62, 63}) {
      const long double part = std::ldexp(power, -bit);
      for (const long double parts : {-2, -1, 1, 3}) values.push_back(power + parts * part);
    }
  }
  return values;
}

/// All values of types of one and two bytes; of other types edges, their neighbours, and random
/// bits.
template <class T>
std::vector<T> values_of() {
  std::vector<T> values;
  if constexpr (sizeof(T) <= 2) {
    for (std::uint64_t bits = 0; bits >> 8 * sizeof(T) == 0; ++bits) {
      values.push_back(from_bits<T>(bits));
    }
    return values;
  } else {
    const std::uint64_t other_sign =
        is_floating<T> ? std::uint64_t{1} << (8 * sizeof(T) - 1) : ~std::uint64_t{0};
    const auto add_around = [&](T value) {
      const std::uint64_t bits = bits_of(value);
      for (const std::uint64_t near : {bits - 1, bits, bits + 1}) {
        values.push_back(from_bits<T>(near));
        values.push_back(from_bits<T>(near ^ other_sign));
      }
    };
    using Limits = std::numeric_limits<T>;
    constexpr auto highest = static_cast<long double>(Limits::max());
    for (const long double edge : edges()) {
      if (edge <= highest) add_around(static_cast<T>(edge));
    }
    add_around(Limits::max());
    add_around(Limits::infinity());
    std::mt19937_64 random(sizeof(T));
    for (int i = 0; i < 30'000; ++i) values.push_back(from_bits<T>(random()));
    return values;
  }
}

// --- comparisons ---------------------------------------------------------------------------------

/// Converts to every type by `convert(values, converted, beyond)`, which returns the losses.
template <class From, class Convert>
void expect_definition(const std::vector<From>& values, Convert convert) {
  for (const ElementType type : test::all_types) {
    SCOPED_TRACE("to " + std::string(name_of(type)));
    visit(type, [&]<class To>(std::type_identity<To>) {
      for (const Beyond beyond : {Beyond::convert, Beyond::clip}) {
        std::vector<To> converted(values.size());
        const Losses found = convert(values, converted, beyond);
        const Losses expected = expect_values(values, converted, beyond);
        EXPECT_EQ(found.rounded, expected.rounded);
        EXPECT_EQ(found.overflowed, expected.overflowed);
        EXPECT_EQ(found.clipped, expected.clipped);
      }
    });
  }
}

/// Converts on a device.
struct Converter {
  explicit Converter(DeviceKind kind) : device(make_device(kind)) {
    device->bind_to_thread();
    stream = device->make_stream();
  }

  template <class T>
  Buffer copy_of(const std::vector<T>& values) {
    Buffer buffer(device->device_memory(), values.size() * sizeof(T));
    stream->copy(buffer.data(), values.data(), buffer.size());
    stream->synchronize();
    return buffer;
  }

  template <class T>
  void fetch(std::vector<T>& values, const Buffer& buffer) {
    stream->copy(values.data(), buffer.data(), buffer.size());
    stream->synchronize();
  }

  template <class From, class To>
  Losses convert(const std::vector<From>& values, std::vector<To>& converted, Beyond beyond) {
    std::vector<Losses> losses(1);
    const Buffer in = copy_of(values);
    const Buffer out = copy_of(converted);
    const Buffer counter = copy_of(losses);
    convert_values(*stream, element_type_of<From>(), element_type_of<To>(), in.data(), out.data(),
                   values.size(), beyond, counter.as<Losses>());
    fetch(converted, out);
    fetch(losses, counter);
    return losses[0];
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<Stream> stream;
};

template <class T>
class ConvertValues : public testing::Test {};

using Types =
    testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t, Float16, float, double, BFloat16>;
TYPED_TEST_SUITE(ConvertValues, Types);

TYPED_TEST(ConvertValues, AllLevelsFollowTheDefinition) {
  for (const Simd simd : supported_simd()) {
    SCOPED_TRACE(name_of(simd));
    expect_definition(values_of<TypeParam>(), [simd]<class From, class To>(
                                                  const std::vector<From>& in, std::vector<To>& out,
                                                  Beyond beyond) {
      return convert_values_cpu(element_type_of<From>(), element_type_of<To>(),
                                reinterpret_cast<const std::byte*>(in.data()),
                                reinterpret_cast<std::byte*>(out.data()), in.size(), beyond, simd);
    });
  }
}

TYPED_TEST(ConvertValues, TheGpuFollowsTheDefinition) {
  OOC_SKIP_WITHOUT(DeviceKind::cuda);
  Converter converter(DeviceKind::cuda);
  expect_definition(values_of<TypeParam>(), [&](const auto& in, auto& out, Beyond beyond) {
    return converter.convert(in, out, beyond);
  });
}

// --- rules, on each device -----------------------------------------------------------------------

using test::float_infinity;

using Bits = std::vector<std::uint64_t>;

template <class T>
Bits bits_of_all(const std::vector<T>& values) {
  Bits bits;
  for (const T value : values) bits.push_back(bits_of(value));
  return bits;
}

class ConvertValuesRules : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    OOC_SKIP_WITHOUT(GetParam());
    converter_.emplace(GetParam());
  }

  /// Converts the values and adds to `inexact_`.
  template <class To, class From>
  std::vector<To> convert(const std::vector<From>& values) {
    std::vector<To> converted(values.size());
    inexact_ = converter_->convert(values, converted, Beyond::convert).all();
    return converted;
  }

  std::optional<Converter> converter_;
  std::uint64_t inexact_ = 0;
};

TEST_P(ConvertValuesRules, RoundsOnceToNearestEven) {
  // Halfway between two numbers of f2, except for a difference that a float cannot hold.
  const std::vector<double> values{1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-40, 1 + 0x3p-11, 0x1p-25};
  EXPECT_EQ(bits_of_all(convert<Float16>(values)), (Bits{0x3c00, 0x3c01, 0x3c02, 0}));
  EXPECT_EQ(inexact_, 4u);

  // Halfway between two numbers of bf16, except for a difference that a double cannot hold.
  const std::vector<std::int64_t> integers{(1LL << 62) + (1LL << 54), (1LL << 62) + (1LL << 54) + 1,
                                           -(1LL << 62) - (1LL << 54) - 1, 1LL << 62};
  EXPECT_EQ(bits_of_all(convert<BFloat16>(integers)), (Bits{0x5e80, 0x5e81, 0xde81, 0x5e80}));
  EXPECT_EQ(inexact_, 3u);
}

TEST_P(ConvertValuesRules, TooLargeForAFloatingTypeIsInfinite) {
  const std::vector<float> values{65504, 65519.996f, 65520, -1e30f, float_infinity};
  EXPECT_EQ(bits_of_all(convert<Float16>(values)), (Bits{0x7bff, 0x7bff, 0x7c00, 0xfc00, 0x7c00}));
  EXPECT_EQ(inexact_, 3u);
}

TEST_P(ConvertValuesRules, IntegersLoseFractionsAndSaturate) {
  const std::vector<float> values{
      2.9f, -2.9f, 300, -300, float_infinity, -float_infinity, test::float_nan, -0.0f};
  EXPECT_EQ(convert<std::int8_t>(values),
            (std::vector<std::int8_t>{2, -2, 127, -128, 127, -128, 0, 0}));
  EXPECT_EQ(inexact_, 7u);
  EXPECT_EQ(convert<std::uint8_t>(values), (std::vector<std::uint8_t>{2, 0, 255, 0, 255, 0, 0, 0}));
  EXPECT_EQ(inexact_, 7u);
}

TEST_P(ConvertValuesRules, IntegersWrap) {
  const std::vector<std::int32_t> values{255, 256, -1, 70'000};
  EXPECT_EQ(convert<std::uint8_t>(values), (std::vector<std::uint8_t>{255, 0, 255, 112}));
  EXPECT_EQ(inexact_, 3u);
}

TEST_P(ConvertValuesRules, NanKeepsSignAndPayloadAndBecomesQuiet) {
  std::vector<float> values;
  for (const std::uint32_t bits : {0x7fc0'0000u, 0xffc0'2000u, 0x7f80'0001u, 0xffff'ffffu}) {
    values.push_back(std::bit_cast<float>(bits));
  }
  EXPECT_EQ(bits_of_all(convert<Float16>(values)), (Bits{0x7e00, 0xfe01, 0x7e00, 0xffff}));
  EXPECT_EQ(inexact_, 0u);
  EXPECT_EQ(bits_of_all(convert<double>(values)),
            (Bits{0x7ff8'0000'0000'0000, 0xfff8'0400'0000'0000, 0x7ff8'0000'2000'0000,
                  0xffff'ffff'e000'0000}));
  EXPECT_EQ(inexact_, 0u);
}

TEST_P(ConvertValuesRules, AnyNumberOfElements) {
  for (const std::size_t count : {1, 511, 512, 513, 1024, 100'001}) {
    const std::vector<float> values(count, 0.5f);
    EXPECT_EQ(convert<std::uint16_t>(values), std::vector<std::uint16_t>(count, 0));
    EXPECT_EQ(inexact_, count);
    EXPECT_EQ(convert<float>(values), values);
    EXPECT_EQ(inexact_, 0u);
  }
  convert_values(*converter_->stream, ElementType::f4, ElementType::f2, nullptr, nullptr, 0,
                 Beyond::convert, nullptr);
}

TEST_P(ConvertValuesRules, AddsToTheCountIfThereIsOne) {
  std::vector<Losses> losses{{.rounded = std::uint64_t{1} << 40, .overflowed = 3}};
  std::vector<std::int16_t> converted(1000, -1);
  const Buffer in = converter_->copy_of(std::vector<float>(1000, 7.5f));
  const Buffer out = converter_->copy_of(converted);
  const Buffer counter = converter_->copy_of(losses);
  for (auto* const count :
       {counter.as<Losses>(), counter.as<Losses>(), static_cast<Losses*>(nullptr)}) {
    convert_values(*converter_->stream, ElementType::f4, ElementType::i2, in.data(), out.data(),
                   700, Beyond::convert, count);
  }
  converter_->fetch(losses, counter);
  converter_->fetch(converted, out);
  EXPECT_EQ(losses[0].rounded, (std::uint64_t{1} << 40) + 1400);
  EXPECT_EQ(losses[0].overflowed, 3u);
  EXPECT_EQ(std::ranges::count(converted, 7), 700);
  EXPECT_EQ(std::ranges::count(converted, -1), 300);  // nothing is written after the last element
}

INSTANTIATE_TEST_SUITE_P(Devices, ConvertValuesRules, test::all_devices, test::device_name);

}  // namespace
}  // namespace ooc::detail::conversion
