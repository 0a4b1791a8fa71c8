// All kinds of passes over data in pieces, which are stored in any order and anywhere in files, as
// they are, encoded, or in tiles: they find what they find in the same numbers stored plainly, to
// the bit.

#include <ooc/chunks.hpp>
#include <ooc/collect.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/records.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "lib/operators/output_job_fixture.hpp"
#include "support/bits.hpp"
#include "support/effort.hpp"
#include "support/encoded.hpp"
#include "support/scattered.hpp"
#include "support/values_file.hpp"

namespace ooc::detail {
namespace {

using test::bits_of;
using test::Machine;
using test::on_host;
using test::partition;
using test::SavedSum;
using test::SumOfProducts;

/// The sum of products with the values before and after.
struct ProductsAround {
  using Input = float;
  using Partial = float;
  static constexpr std::size_t partition_records = partition;
  std::size_t before() const { return 3; }
  std::size_t after() const { return 5; }
  void consume(Stream& stream, DeviceWindow<const float> in, float& sum) const {
    const auto values = on_host(
        stream, DeviceSpan<const float>{in.data - in.before, in.before + in.size + in.after});
    for (std::size_t i = 0; i + 1 < values.size(); ++i) sum += values[i] * values[i + 1];
  }
  void merge(float& total, const float& part) const { total += part; }
};

class ScatteredTest : public test::OutputJobTest {
 protected:
  /// Calls `check` with coordinators of several layouts, and the data in each kind of pieces; under
  /// sanitizers in every ninth way, which meets each layout and kind.
  template <class Check>
  void with_each(const Check& check) {
    std::size_t way = 0;
    for (const std::size_t steps : {1u, 4u, 9u}) {
      for (Source* const kind : {&pieces_, &encoded_, &tiled_}) {
        // The files are in the page cache, where direct reads are none unless they are asked for.
        // The longest chunks lie in too many pieces for them.
        const bool reads_directly = steps < 9 && files_of(*kind).front().direct() >= 0;
        std::vector<DirectIo> ways{DirectIo::no};
        if (reads_directly) ways.push_back(DirectIo::yes);
        for (const DirectIo direct : ways) {
          for (const std::size_t streams : {1u, 3u}) {
            if (way++ % test::walk_step(9) != 0) continue;
            with_machine({.chunk_bytes = steps * test::values_of_a_step * sizeof(float),
                          .streams = streams,
                          .direct = direct},
                         *kind, check);
          }
        }
      }
    }
  }

  template <class Check>
  void with_machine(const Options& options, Source& pieces, const Check& check) {
    Coordinator machine = coordinator(options);
    SCOPED_TRACE(std::to_string(options.chunk_bytes) + " bytes, " +
                 std::to_string(options.streams) + " streams, " + pieces.name());
    check(machine, pieces);
  }

  /// Expects `find(coordinator, source)` to return the same for both sources.
  template <class Find>
  void expect_same(const Find& find) {
    Coordinator plain = coordinator();
    const auto expected = find(plain, data_);
    with_each([&](Coordinator& machine, const Source& pieces) {
      EXPECT_EQ(find(machine, pieces), expected);
    });
  }

  /// Expects `write(coordinator, source, directory)` to write the same files for both sources.
  template <class Write>
  void expect_same_files(const Write& write) {
    Coordinator plain = coordinator();
    write(plain, data_, whole_);
    const std::vector<std::string> names = names_in(whole_);
    with_each([&](Coordinator& machine, const Source& pieces) {
      write(machine, pieces, made_);
      EXPECT_EQ(names_in(made_), names);
      for (const std::string& name : names) {
        EXPECT_TRUE(test::read_whole(made_ / name) == test::read_whole(whole_ / name)) << name;
        std::filesystem::remove(made_ / name);
      }
    });
  }

  void expect_halves_go_on() {
    expect_goes_on([this](Coordinator& coordinator, const std::filesystem::path& directory,
                          const test::Act& at_step, const PassOptions& wanted) {
      const Target target = target_in(directory, "halves.npy", ElementType::f8);
      return map(coordinator, test::Halve{at_step}, data_, target, wanted).stats.outcome.records;
    });
  }

  static Target file_in(const std::filesystem::path& directory, const std::string& name,
                        ElementType type) {
    return {.path = directory / name, .type = {type}};
  }

  Source pieces_ = test::scattered(dir_.path(), many_values(), {ElementType::f4});
  Source encoded_ = test::encoded(dir_.path(), many_values(), {ElementType::f4});
  Source tiled_ = test::tiled(dir_.path(), many_values(), {ElementType::f4});
};

INSTANTIATE_TEST_SUITE_P(Machines, ScatteredTest, test::all_machines, test::machine_name);

TEST_P(ScatteredTest, FoldsFindTheSame) {
  expect_same([](Coordinator& machine, const Source& source) {
    const auto [sum, stats] = fold(machine, test::RoundedSum{}, source);
    EXPECT_EQ(stats.outcome.records, count_);
    EXPECT_EQ(stats.outcome.bytes, count_ * sizeof(float));
    return bits_of(sum);
  });
}

TEST_P(ScatteredTest, WindowsFindTheSame) {
  expect_same([](Coordinator& machine, const Source& source) {
    return bits_of(fold(machine, ProductsAround{}, source).value);
  });
}

TEST_P(ScatteredTest, ZippedSourcesFindTheSame) {
  std::vector<float> backwards = many_values();
  std::ranges::reverse(backwards);
  const test::ValuesFile file;
  const Source other_data = file.source_of(backwards);
  const Source other = test::scattered(made_, backwards, {ElementType::f4}, 2);
  Coordinator plain = coordinator();
  const double expected = fold(plain, SumOfProducts{}, zip(data_, other_data)).value;
  with_each([&](Coordinator& machine, const Source& pieces) {
    EXPECT_EQ(bits_of(fold(machine, SumOfProducts{}, zip(pieces, other_data)).value),
              bits_of(expected));
    EXPECT_EQ(bits_of(fold(machine, SumOfProducts{}, zip(pieces, other)).value), bits_of(expected));
  });
}

TEST_P(ScatteredTest, ChecksumsAreOfTheBytesInTheirOrder) {
  expect_same([](Coordinator& machine, const Source& source) {
    return fold(machine, test::RoundedSum{}, source, {.checksum = true}).stats.outcome.checksum;
  });
}

TEST_P(ScatteredTest, SectionsFindTheSame) {
  for (const auto& [first, count] : {std::pair{std::size_t{0}, partition},
                                     {partition, count_ - partition},
                                     {18 * partition, 70 * partition}}) {
    expect_same([&, first = first, count = count](Coordinator& machine, const Source& source) {
      return bits_of(fold(machine, test::RoundedSum{}, section(source, first, count)).value);
    });
  }
}

TEST_P(ScatteredTest, ShardsMergeToTheSame) {
  expect_same([](Coordinator& machine, const Source& source) {
    auto all = collect(machine, SavedSum{}, shard(source, 0, 3, partition)).value;
    for (const std::uint64_t i : {2u, 1u}) {
      all.merge(collect(machine, SavedSum{}, shard(source, i, 3, partition)).value);
    }
    return bits_of(std::move(all).result());
  });
}

TEST_P(ScatteredTest, RowsAreTheSameInAnyOrder) {
  using Rows = std::vector<std::vector<float>>;
  constexpr std::size_t columns = 7, rows = 100'000;
  std::vector<float> values = many_values();
  values.resize(rows * columns);
  Source plain = many_.source_of(values);
  pieces_ = test::scattered(made_, values, {ElementType::f4});
  encoded_ = test::encoded(made_, values, {ElementType::f4});
  tiled_ = test::tiled(made_, values, {ElementType::f4});
  const auto rows_of = [](Coordinator& machine, Source& source) {
    source.set_shape({rows, columns});
    machine.device().bind_to_thread();
    const auto stream = machine.device().make_stream();
    Chunks chunks(machine, source, {.rows = 1000, .shuffle_seed = 5});
    Rows found;
    while (const auto chunk = chunks.next(*stream)) {
      const auto in = chunk->rows<float>();
      found.push_back(on_host(*stream, DeviceSpan<const float>{in.data, in.size}));
    }
    return found;
  };
  Coordinator alone = coordinator();
  const Rows expected = rows_of(alone, plain);
  with_each([&](Coordinator& machine, Source& pieces) {
    EXPECT_TRUE(rows_of(machine, pieces) == expected);
  });
}

TEST_P(ScatteredTest, StaysOnTheDeviceAsTheSame) {
  Coordinator plain = coordinator();
  const float expected = fold(plain, test::RoundedSum{}, data_).value;
  with_each([&](Coordinator& machine, const Source& pieces) {
    const Resident kept(machine, pieces, {.device_bytes = pieces.bytes() / 2});
    for (int pass = 0; pass < 3; ++pass) {
      EXPECT_EQ(bits_of(fold(machine, test::RoundedSum{}, kept).value), bits_of(expected));
    }
  });
}

TEST_P(ScatteredTest, MapsWriteTheSame) {
  expect_same_files([](Coordinator& machine, const Source& source, const auto& directory) {
    map(machine, test::Halve{}, source, file_in(directory, "halves.npy", ElementType::f8));
    map(machine, test::Divided{}, source,
        {file_in(directory, "above.u8", ElementType::u1),
         file_in(directory, "squares.f32", ElementType::f4)});
  });
}

TEST_P(ScatteredTest, FiltersAndScansWriteTheSame) {
  expect_same_files([](Coordinator& machine, const Source& source, const auto& directory) {
    filter(machine, test::KeepAbove{}, source, file_in(directory, "kept.npy", ElementType::f4));
    scan(machine, test::RunningSum{}, source, file_in(directory, "sums.f32", ElementType::f4));
  });
}

TEST_P(ScatteredTest, ADamagedPieceIsAnErrorHoweverItIsRead) {
  for (const char* const name : {"encoded-0", "encoded-1", "tiles"}) {
    const auto path = dir_.path() / name;
    const std::vector<std::byte> zeros(std::filesystem::file_size(path));
    test::write_file(path, zeros);
  }
  with_each([&](Coordinator& machine, const Source& pieces) {
    if (files_of(pieces).front().encoded() == nullptr) return;
    for (int pass = 0; pass < 2; ++pass) {
      test::expect_error(ErrorKind::bad_input, "is damaged",
                         [&] { fold(machine, test::RoundedSum{}, pieces); });
    }
    EXPECT_EQ(fold(machine, test::RoundedSum{}, data_).stats.outcome.records, count_);
  });
}

TEST_P(ScatteredTest, CountsWhatIsStoredAndTheTimeOfDecoding) {
  std::uint64_t stored_bytes = 0;
  for (const char* const name : {"encoded-0", "encoded-1"}) {
    stored_bytes += std::filesystem::file_size(dir_.path() / name);
  }
  Coordinator alone = coordinator();
  for (const int passes : {1, 2}) {
    Stats stats = fold(alone, test::RoundedSum{}, encoded_).stats;
    if (passes == 2) stats += fold(alone, test::RoundedSum{}, encoded_).stats;
    EXPECT_TRUE(stats.layout.decodes);
    EXPECT_GT(stats.outcome.stored_bytes, 0u);
    EXPECT_LE(stats.outcome.stored_bytes, passes * stored_bytes);
    EXPECT_GT(stats.timing.decode.busy, 0);
  }
  EXPECT_FALSE(fold(alone, test::RoundedSum{}, data_).stats.layout.decodes);
}

TEST_P(ScatteredTest, JobsGoOnWhereTheyWereStopped) {
  std::swap(data_, pieces_);
  expect_halves_go_on();
}

TEST_P(ScatteredTest, JobsOverTilesGoOnWhereTheyWereStopped) {
  std::swap(data_, tiled_);
  expect_halves_go_on();
}

TEST_P(ScatteredTest, JobsOverEncodedPiecesGoOnWhereTheyWereStopped) {
  std::swap(data_, encoded_);
  expect_halves_go_on();
}

}  // namespace
}  // namespace ooc::detail
