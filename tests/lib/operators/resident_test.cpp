#include <ooc/resident.hpp>

#include <ooc/chunks.hpp>
#include <ooc/filter.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/scan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "lib/operators/output_job_fixture.hpp"
#include "lib/operators/resident_fixture.hpp"
#include "support/host_operators.hpp"
#include "support/operators.hpp"

namespace ooc::detail {
namespace {

using test::Doubled;
using test::partition;
using test::RoundedSum;
using ResidentTest = test::ResidentFixture;

/// Subtracts and multiplies what it is given, in the order of the data.
struct OrderedMix {
  using Input = float;
  using Partial = std::vector<float>;
  static constexpr Merge merge_order = Merge::in_order;
  static constexpr std::size_t partition_records = partition;

  void consume(Stream& stream, DeviceChunk<const float> in, Partial& mixed) const {
    float sum = 0;
    for (const float value : test::on_host<const float>(stream, in)) sum = 0.5f * sum - value;
    mixed.push_back(sum);
  }
  void merge(Partial& total, const Partial& part) const {
    total.insert(total.end(), part.begin(), part.end());
  }
};

/// The sum of the rows, weighted by their number.
struct RowSums {
  using Input = Row<float>;
  using Partial = std::vector<double>;
  static constexpr std::size_t partition_records = 512;

  void consume(Stream& stream, DeviceRows<const float> in, Partial& sums) const {
    sums.resize(in.columns);
    const auto values = test::on_host<const float>(stream, in);
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums[i % in.columns] += values[i] * static_cast<double>(in.first + i / in.columns);
    }
  }
  void merge(Partial& total, const Partial& part) const {
    total.resize(std::max(total.size(), part.size()));
    for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
  }
};

/// The differences to the values two places before, zero at the beginning.
struct Differences {
  using Input = float;
  using Output = float;
  std::size_t before() const { return 2; }
  std::size_t after() const { return 0; }
  void transform(Stream& stream, DeviceWindow<const float> in, DeviceSpan<float> out) const {
    std::vector<float> values(in.before + in.size), made(in.size);
    stream.copy(values.data(), in.data - in.before, values.size() * sizeof(float));
    stream.synchronize();
    for (std::size_t i = 0; i < in.size; ++i) {
      const std::size_t place = in.before + i;
      made[i] = place < 2 ? 0 : values[place] - values[place - 2];
    }
    test::to_device(stream, out.data, std::span<const float>(made));
  }
};

struct KeepLarge {
  using Input = float;
  using Output = float;
  void select(Stream& stream, DeviceSpan<const float> in, DeviceSpan<float> out,
              std::uint64_t* kept) const {
    auto values = test::on_host<const float>(stream, in);
    std::erase_if(values, [](float value) { return !(value > 0.5f); });
    test::to_device(stream, out.data, std::span<const float>(values));
    test::to_device(stream, kept, std::uint64_t{values.size()});
  }
};

struct ShortRunningSum : test::RunningSum {
  static constexpr std::size_t partition_records = partition;
};

TEST_P(ResidentTest, TheSecondPassReadsNothing) {
  Coordinator machine = coordinator();
  const float expected = fold(machine, RoundedSum{}, source_).value;
  bytes_read();
  const Resident kept(machine, source_, {.device_bytes = all_});
  EXPECT_EQ(kept.resident_bytes(), 0u);
  for (int pass = 0; pass < 3; ++pass) {
    const auto [sum, stats] = fold(machine, RoundedSum{}, kept);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(sum), std::bit_cast<std::uint32_t>(expected));
    EXPECT_EQ(stats.outcome.bytes, bytes_);
    EXPECT_EQ(stats.outcome.resident_bytes, pass == 0 ? 0 : bytes_);
    if (pass == 0) {
      EXPECT_GE(bytes_read(), bytes_);
    } else {
      EXPECT_EQ(bytes_read(), 0u);
    }
    EXPECT_EQ(kept.resident_bytes(), bytes_);
    const Reason reason{.what = ReasonKind::resident_input, .figures = {bytes_, bytes_}};
    EXPECT_EQ(std::ranges::count(stats.layout.reasons, reason), pass == 0 ? 0 : 1);
  }
}

TEST_P(ResidentTest, APartStaysAndTheRestIsReadByTurns) {
  Coordinator machine = coordinator();
  const float expected = fold(machine, RoundedSum{}, source_).value;
  const auto mixed = fold(machine, OrderedMix{}, source_).value;
  const std::uint64_t step = 4 * partition * sizeof(float);
  for (const std::uint64_t wanted : {step - 1, step, 5 * step + 3, bytes_ - 1}) {
    const Resident kept(machine, source_, {.device_bytes = wanted});
    fold(machine, RoundedSum{}, kept);
    const std::uint64_t held = wanted / step * step;
    EXPECT_EQ(kept.resident_bytes(), held);
    bytes_read();
    const auto [sum, stats] = fold(machine, RoundedSum{}, kept);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(sum), std::bit_cast<std::uint32_t>(expected));
    EXPECT_EQ(stats.outcome.bytes, bytes_);
    EXPECT_EQ(stats.outcome.resident_bytes, held);
    const std::uint64_t read = bytes_read();
    EXPECT_GE(read, bytes_ - held);
    EXPECT_LE(read, bytes_ - held + 16 * 4096);  // whole blocks of the disk
    EXPECT_EQ(fold(machine, OrderedMix{}, kept).value, mixed);
    EXPECT_LE(bytes_read(), bytes_ - held + 16 * 4096);
  }
}

TEST_P(ResidentTest, PassesMayHaveOtherChunksThanTheFirst) {
  for (const std::size_t chunk : {1, 3, 16, 1000}) {
    Coordinator first = coordinator({.chunk_bytes = chunk * partition * sizeof(float)});
    const float expected = fold(first, RoundedSum{}, source_).value;
    const auto mixed = fold(first, OrderedMix{}, source_).value;
    const Resident kept(first, source_, {.device_bytes = bytes_ * 3 / 4});
    EXPECT_EQ(fold(first, OrderedMix{}, kept).value, mixed);  // fills
    const auto both = fold(first, std::tuple{RoundedSum{}, OrderedMix{}}, kept).value;
    EXPECT_EQ(std::get<0>(both), expected);
    EXPECT_EQ(std::get<1>(both), mixed);
    // Steps of another operator, which do not end where the resident part does.
    EXPECT_EQ(fold(first, test::Count<float>{}, kept).value, count_);
  }
}

TEST_P(ResidentTest, ElementsOfTheOtherByteOrderAreSwappedOnce) {
  std::vector<float> swapped = values();
  for (float& value : swapped) {
    value = std::bit_cast<float>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  }
  test::ValuesFile other;
  const Source source = other.source_of(swapped, true, 64);
  Coordinator machine = coordinator();
  const float expected = fold(machine, RoundedSum{}, source_).value;
  for (const std::uint64_t wanted : {all_, bytes_ / 2}) {
    const Resident kept(machine, source, {.device_bytes = wanted});
    for (int pass = 0; pass < 3; ++pass) {
      EXPECT_EQ(fold(machine, RoundedSum{}, kept).value, expected) << pass;
    }
    EXPECT_NE(kept.resident_bytes(), 0u);
  }
}

TEST_P(ResidentTest, HoldsRows) {
  std::vector<float> whole = values();
  whole.resize(50 * partition);
  Source rows = file_.source_of(whole);
  rows.set_shape({50 * partition / 8, 8});
  Coordinator machine = coordinator();
  const auto expected = fold(machine, RowSums{}, rows).value;
  for (const std::uint64_t wanted : {all_, bytes_ / 3}) {
    const Resident kept(machine, rows, {.device_bytes = wanted});
    for (int pass = 0; pass < 3; ++pass) EXPECT_EQ(fold(machine, RowSums{}, kept).value, expected);
    EXPECT_NE(kept.resident_bytes(), 0u);
  }
}

TEST_P(ResidentTest, IsWrittenFromToo) {
  Coordinator machine = coordinator();
  map(machine, Doubled{}, source_, target("doubled.f32"));
  map(machine, Differences{}, source_, target("differences.f32"));
  filter(machine, KeepLarge{}, source_, target("large.f32"));
  scan(machine, ShortRunningSum{}, source_, target("sums.f32"));
  for (const std::uint64_t wanted : {all_, bytes_ / 2}) {
    const Resident kept(machine, source_, {.device_bytes = wanted});
    map(machine, Differences{}, kept, target("again.f32"));
    EXPECT_EQ(made("again.f32"), made("differences.f32"));
    EXPECT_EQ(kept.resident_bytes(), 0u);  // a pass with neighbours does not fill it
    for (int pass = 0; pass < 2; ++pass) {
      const Stats stats = map(machine, Doubled{}, kept, target("again.f32")).stats;
      EXPECT_EQ(made("again.f32"), made("doubled.f32"));
      EXPECT_EQ(stats.outcome.resident_bytes, pass == 0 ? 0 : kept.resident_bytes());
    }
    const Stats stats = map(machine, Differences{}, kept, target("again.f32")).stats;
    EXPECT_EQ(made("again.f32"), made("differences.f32"));
    EXPECT_NE(stats.outcome.resident_bytes, 0u);
    EXPECT_LE(stats.outcome.resident_bytes, kept.resident_bytes());
    const auto [selection, filtered] = filter(machine, KeepLarge{}, kept, target("again.f32"));
    EXPECT_EQ(made("again.f32"), made("large.f32"));
    EXPECT_EQ(filtered.outcome.resident_bytes, kept.resident_bytes());
    scan(machine, ShortRunningSum{}, kept, target("again.f32"));
    EXPECT_EQ(made("again.f32"), made("sums.f32"));
  }
}

TEST_P(ResidentTest, ChunksOfTheCallersOwnLoopStayToo) {
  Coordinator machine = coordinator();
  machine.device().bind_to_thread();
  const auto stream = machine.device().make_stream();
  const std::vector<float> expected = values();
  for (const std::uint64_t wanted : {all_, bytes_ / 2}) {
    const Resident kept(machine, source_, {.device_bytes = wanted});
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<float> seen(count_);
      Chunks chunks(machine, kept, {.rows = 5000, .shuffle_seed = epoch});
      while (const auto chunk = chunks.next(*stream)) {
        stream->copy(seen.data() + chunk->first(), chunk->bytes().data, chunk->bytes().size);
      }
      stream->synchronize();
      EXPECT_EQ(seen, expected) << epoch;
      EXPECT_EQ(chunks.stats().outcome.resident_bytes, epoch == 0 ? 0 : kept.resident_bytes());
    }
    EXPECT_NE(kept.resident_bytes(), 0u);
  }
}

TEST_P(ResidentTest, TheMemoryLivesAsLongAsItsOwners) {
  Coordinator machine = coordinator();
  machine.device().bind_to_thread();
  const auto stream = machine.device().make_stream();
  DeviceSpan<const std::byte> rows;
  std::shared_ptr<const void> owner;
  {
    const Resident kept(machine, source_, {.device_bytes = all_});
    Chunks chunks(machine, kept);
    while (const auto chunk = chunks.next(*stream)) {
      rows = chunk->bytes();
      owner = kept.owner_of(rows.data);
      EXPECT_EQ(kept.owner_of(rows.data + rows.size - 1), owner);
    }
    EXPECT_FALSE(kept.owner_of(&machine));
  }
  ASSERT_TRUE(owner);
  std::vector<float> last(rows.size / sizeof(float));
  stream->copy(last.data(), rows.data, rows.size);
  stream->synchronize();
  EXPECT_EQ(last.back(), values().back());
}

// A loop that is left early has put rows there that no later pass counts on.
TEST_P(ResidentTest, WhatOwnersSeeDoesNotChange) {
  Coordinator machine = coordinator();
  machine.device().bind_to_thread();
  const auto stream = machine.device().make_stream();
  const Resident kept(machine, source_, {.device_bytes = all_});
  DeviceSpan<const std::byte> rows;
  std::shared_ptr<const void> owner;
  for (int loop = 0; loop < 2; ++loop) {
    Chunks chunks(machine, kept, {.rows = 1000});
    const std::optional<Lease> first = chunks.next(*stream);
    if (loop == 0) {
      rows = first->bytes();
      owner = kept.owner_of(rows.data);
      ASSERT_TRUE(owner);
    } else {
      EXPECT_NE(first->bytes().data, rows.data);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, ResidentTest, test::all_machines, test::machine_name);

}  // namespace
}  // namespace ooc::detail
