// Tests passes over arrays in the memory of a GPU: from_device_memory().

#include <ooc/chunks.hpp>
#include <ooc/collect.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/resident.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "lib/operators/resident_fixture.hpp"
#include "support/bits.hpp"

namespace ooc::detail {
namespace {

using test::bits_of;
using test::Doubled;
using test::expect_error;
using test::Machine;
using test::on_host;
using test::partition;
using test::RoundedSum;
using test::SavedSum;
using test::SumOfProducts;

/// The sum of products with the next value.
struct NextProducts {
  using Input = float;
  using Partial = double;
  static constexpr std::size_t partition_records = partition;
  std::size_t after() const { return 1; }
  void consume(Stream& stream, DeviceWindow<const float> in, double& sum) const {
    const auto values = on_host(stream, DeviceSpan<const float>{in.data, in.size + in.after});
    for (std::size_t i = 0; i + 1 < values.size(); ++i) sum += values[i] * values[i + 1];
  }
  void merge(double& total, const double& part) const { total += part; }
};

struct alignas(16) Four {
  using Element = float;
  float values[4];
};

struct SumOfFours {
  using Input = Four;
  using Partial = std::uint64_t;
  void consume(Stream&, DeviceChunk<const Four> in, Partial& total) const { total += in.size; }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

class DeviceSourceTest : public test::ResidentFixture {
 protected:
  void SetUp() override {
    OOC_SKIP_WITHOUT_MACHINE(GetParam());
    machine_.reset(new Coordinator(coordinator()));
    Device& device = machine_->device();
    device.bind_to_thread();
    memory_ = Buffer(device.device_memory(), bytes_ + sizeof(float));
    const auto stream = device.make_stream();
    test::to_device<float>(*stream, array(), values_);
  }

  /// The address is that of a float, and of nothing larger.
  float* array() const { return memory_.as<float>() + 1; }
  std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(array()), bytes_};
  }
  Source source() const { return from_device_memory(bytes(), {ElementType::f4}); }
  Source in_host_memory() const { return from_memory(values_); }

  template <class Op>
  void expect_same(const Op& op) {
    Coordinator other = coordinator();
    const auto expected = fold(other, op, in_host_memory()).value;
    bytes_read();
    const auto [found, stats] = fold(*machine_, op, source());
    EXPECT_EQ(bytes_read(), 0u);
    EXPECT_EQ(bits_of(found), bits_of(expected));
    EXPECT_EQ(stats.outcome.bytes, bytes_);
    EXPECT_EQ(stats.outcome.resident_bytes, bytes_);
  }

  const std::vector<float> values_ = values();
  std::unique_ptr<Coordinator> machine_;
  Buffer memory_;
};

INSTANTIATE_TEST_SUITE_P(Machines, DeviceSourceTest, testing::Values(Machine::late, Machine::cuda),
                         test::machine_name);

TEST_P(DeviceSourceTest, HasTheBitsOfTheSameNumbersElsewhere) {
  expect_same(RoundedSum{});
  expect_same(NextProducts{});
}

TEST_P(DeviceSourceTest, HasSectionsAndShards) {
  Coordinator other = coordinator();
  const auto sum = [](Coordinator& machine, const Source& from) {
    return bits_of(fold(machine, RoundedSum{}, from).value);
  };
  EXPECT_EQ(sum(*machine_, section(source(), partition, 3 * partition)),
            sum(other, section(in_host_memory(), partition, 3 * partition)));
  auto [all, stats] = collect(*machine_, SavedSum{}, shard(source(), 0, 3, partition));
  for (const std::uint64_t i : {1u, 2u}) {
    all.merge(collect(*machine_, SavedSum{}, shard(source(), i, 3, partition)).value);
  }
  EXPECT_EQ(bits_of(std::move(all).result()), sum(other, in_host_memory()));
}

TEST_P(DeviceSourceTest, HasFieldsAndAnEnd) {
  const std::size_t pairs = values_.size() / 2;
  const Source structs =
      from_device_memory(bytes().first(pairs * 2 * sizeof(float)), parse_dtype("{a:f4,b:f4}"));
  std::vector<float> second;
  for (std::size_t i = 0; i < pairs; ++i) second.push_back(values_[2 * i + 1]);
  Coordinator other = coordinator();
  EXPECT_EQ(bits_of(fold(*machine_, RoundedSum{}, field(structs, "b")).value),
            bits_of(fold(other, RoundedSum{}, from_memory(second)).value));
  const std::size_t last = values_.size() / partition * partition, rest = values_.size() - last;
  EXPECT_EQ(bits_of(fold(*machine_, RoundedSum{}, section(source(), last, rest)).value),
            bits_of(fold(other, RoundedSum{}, section(in_host_memory(), last, rest)).value));
  EXPECT_EQ(fold(*machine_, RoundedSum{}, section(source(), last, 0)).value, 0);
}

TEST_P(DeviceSourceTest, IsReadBesideAnother) {
  Coordinator other = coordinator();
  const Source left = source(), right = source(), on_host = in_host_memory();
  const double expected = fold(other, SumOfProducts{}, zip(on_host, on_host)).value;
  EXPECT_EQ(bits_of(fold(*machine_, SumOfProducts{}, zip(left, right)).value), bits_of(expected));
  expect_error(ErrorKind::usage, "is on a GPU, and other inputs are not",
               [&] { fold(*machine_, SumOfProducts{}, zip(left, on_host)); });
}

TEST_P(DeviceSourceTest, IsMapped) {
  const Target target{.path = dir_.path() / "out.f32", .type = {ElementType::f4}};
  map(*machine_, Doubled{}, source(), target);
  Coordinator other = coordinator();
  std::vector<float> doubled = values_;
  for (float& value : doubled) value *= 2;
  EXPECT_EQ(bits_of(fold(other, RoundedSum{}, open(target.path)).value),
            bits_of(fold(other, RoundedSum{}, from_memory(doubled)).value));
}

TEST_P(DeviceSourceTest, StaysWhereItIs) {
  const Source from = source();
  const Resident kept(*machine_, from);
  EXPECT_EQ(kept.resident_bytes(), bytes_);
  const float first = fold(*machine_, RoundedSum{}, kept).value;
  EXPECT_EQ(bits_of(fold(*machine_, RoundedSum{}, kept).value), bits_of(first));
  Chunks chunks(*machine_, from);
  const auto stream = machine_->device().make_stream();
  std::size_t next = 0;
  while (const auto chunk = chunks.next(*stream)) {
    EXPECT_EQ(chunk->rows<float>().data, array() + next);
    next += chunk->count();
  }
  EXPECT_EQ(next, values_.size());
}

TEST_P(DeviceSourceTest, IsRefusedWhereItCannotBeRead) {
  Coordinator on_cpu(make_device(DeviceKind::cpu));
  expect_error(ErrorKind::usage, "is not in the memory of this device",
               [&] { fold(on_cpu, RoundedSum{}, source()); });
  expect_error(ErrorKind::usage, "has no checksum",
               [&] { fold(*machine_, RoundedSum{}, source(), {.checksum = true}); });
  expect_error(ErrorKind::usage, "have no checkpoint", [&] {
    fold(*machine_, SavedSum{}, source(), {.checkpoint = {.file = dir_.path() / "state"}});
  });
  expect_error(ErrorKind::usage, "does not begin at a multiple of 16 bytes", [&] {
    const Source fours = from_device_memory(bytes().first(1600), {ElementType::f4});
    fold(*machine_, SumOfFours{}, fours);
  });
  expect_error(ErrorKind::usage, "another byte order", [&] {
    from_device_memory(bytes(), {ElementType::f4, true});
  });
  expect_error(ErrorKind::usage, "not whole rows",
               [&] { from_device_memory(bytes().first(5), {ElementType::f4}); });
}

}  // namespace
}  // namespace ooc::detail
