#pragma once

#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/records.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/devices.hpp"
#include "support/host_operators.hpp"
#include "support/late_device.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail::test {

struct Particle {
  float x;
  std::int16_t kind;  // padding follows
  double mass;
  std::array<std::uint16_t, 3> cell;  // and here

  static constexpr auto fields =
      ooc::fields(field("x", &Particle::x), field("kind", &Particle::kind),
                  field("mass", &Particle::mass), field("cell", &Particle::cell));
};

/// A struct that cannot be changed.
struct Weighed {
  double weight;
  std::int16_t sort;
};

}  // namespace ooc::detail::test

namespace ooc {

template <>
struct FieldsOf<detail::test::Weighed> {
  static constexpr auto value = ooc::fields(field("mass", &detail::test::Weighed::weight),
                                            field("kind", &detail::test::Weighed::sort));
};

}  // namespace ooc

namespace ooc::detail::test {

inline Particle particle(std::uint64_t i) {
  const auto small = static_cast<std::uint16_t>(i % 60'000);
  return {.x = static_cast<float>(i % 1000) + 0.5f,
          .kind = static_cast<std::int16_t>(i % 50 == 7 ? -3 : i % 50),
          .mass = static_cast<double>(i) + 0.25,
          .cell = {small, static_cast<std::uint16_t>(small + 1),
                   static_cast<std::uint16_t>(small + 2)}};
}

inline bool is_same(const Particle& a, const Particle& b) {
  return a.x == b.x && a.kind == b.kind && a.mass == b.mass && a.cell == b.cell;
}

inline bool is_same(const Weighed& a, const Particle& b) {
  return a.weight == b.mass && a.sort == b.kind;
}

struct Found {
  std::uint64_t right = 0, wrong = 0;

  Found& operator+=(const Found& more) {
    right += more.right;
    wrong += more.wrong;
    return *this;
  }
  friend bool operator==(const Found&, const Found&) = default;
};

/// Compares each struct, and its neighbours, with the one that belongs at its place.
template <class Struct>
struct CompareStructs {
  using Input = Struct;
  using Partial = Found;

  std::size_t neighbours = 0;
  std::size_t before() const { return neighbours; }
  std::size_t after() const { return neighbours; }

  void consume(Stream& stream, DeviceWindow<const Struct> in, Found& found) const {
    const DeviceSpan<const Struct> all{in.data - in.before, in.before + in.size + in.after};
    const std::vector<Struct> host = on_host(stream, all);
    for (std::size_t i = 0; i < host.size(); ++i) {
      const std::uint64_t place = in.first + i - in.before;
      const bool right = is_same(host[i], particle(place));
      if (!right || (i >= in.before && i < in.before + in.size))
        ++(right ? found.right : found.wrong);
    }
  }
  void merge(Found& total, const Found& part) const { total += part; }
};

/// Copies structs.
struct Same {
  using Input = Particle;
  using Output = Particle;
  void transform(Stream& stream, DeviceSpan<const Particle> in, DeviceSpan<Particle> out) const {
    to_device<Particle>(stream, out.data, on_host(stream, in));
  }
};

inline constexpr std::uint64_t struct_count = 150'000;

/// The struct as it is in memory, in other orders, places and byte orders, and with other fields.
inline const std::vector<std::string> layouts{
    "{x:f4,kind:i2,:V2,mass:f8,cell:u2[3],:V2}",
    "{x:f4,kind:i2,mass:f8,cell:u2[3]}",
    "{cell:u2[3],mass:f8,kind:i2,x:f4}",
    "{x:>f4,kind:>i2,:V2,mass:>f8,cell:>u2[3],:V2}",
    "{id:u8,cell:>u2[3],:V1,x:f4,name:u1[5],mass:>f8,kind:i2,last:f2}",
};

class FieldsFixture : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (is("cuda")) OOC_SKIP_WITHOUT(DeviceKind::cuda);
    std::unique_ptr<Device> device;
    if (is("late") || is("late_host")) {
      device = std::make_unique<LateDevice>(Lateness{}, is("late_host"));
    } else {
      device = make_device(is("cuda") ? DeviceKind::cuda : DeviceKind::cpu);
    }
    coordinator_.emplace(std::move(device), Options{.chunk_bytes = 1 << 20, .streams = 2});
  }

  static bool is(std::string_view name) { return GetParam() == name; }

  /// Writes a .npy file of that type, with bytes between the fields that are no zeros.
  std::filesystem::path write(const std::string& name, const DType& type,
                              std::uint64_t structs = struct_count) const {
    std::vector<std::byte> bytes = npy_header(type, std::array{structs});
    const std::vector<std::byte> data = data_of(type, structs);
    bytes.insert(bytes.end(), data.begin(), data.end());
    return dir_.write(name, bytes);
  }

  static std::vector<std::byte> data_of(const DType& type, std::uint64_t structs = struct_count) {
    std::vector<std::byte> data(structs * size_of(type), std::byte{0xee});
    const DType whole = type_of<Particle>();
    for (const Field& to : type.fields) {
      const auto from = std::ranges::find(whole.fields, to.name, &Field::name);
      if (from == whole.fields.end()) continue;
      for (std::uint64_t i = 0; i < structs; ++i) {
        const Particle one = particle(i);
        std::byte* const target = data.data() + i * size_of(type) + to.offset;
        std::memcpy(target, reinterpret_cast<const std::byte*>(&one) + from->offset, to.bytes());
        const std::size_t element = to.swapped ? size_of(to.element) : 1;
        for (std::size_t k = 0; k < to.bytes(); k += element) {
          std::reverse(target + k, target + k + element);
        }
      }
    }
    return data;
  }

  template <class Struct>
  Found compare(const Source& source, std::size_t neighbours = 0) {
    return fold(*coordinator_, CompareStructs<Struct>{neighbours}, source).value;
  }

  Target target(const std::string& name, DType type) const {
    return {.path = dir_.path() / name, .type = std::move(type)};
  }

  TempDir dir_;
  std::optional<Coordinator> coordinator_;
};

}  // namespace ooc::detail::test
