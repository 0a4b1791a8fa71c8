// Checkpoints of other jobs, and jobs that have none.

#include <ooc/detail/file/file.hpp>
#include <ooc/fold.hpp>
#include <ooc/records.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "lib/parts/checkpoint_fixture.hpp"
#include "support/bits.hpp"

namespace ooc::detail {
namespace {

using test::bits_of;
using test::CountAbove;
using test::expect_error;
using test::NamedSum;
using test::partition;
using test::WindowSum;

class CheckpointRefusedTest : public test::CheckpointTest {};

TEST_P(CheckpointRefusedTest, RefusesTheFileOfAnotherJob) {
  Coordinator machine = coordinator();
  leave_file();
  const std::string before = made("sum.part");
  expect_error(ErrorKind::usage, "sum.part: is of another job",
               [&] { fold(machine, CountAbove{1}, source_, after_each()); });
  expect_error(ErrorKind::usage, "is of another job", [&] {
    fold(machine, NamedSum{}, section(source_, 0, 30 * partition), after_each());
  });
  EXPECT_EQ(made("sum.part"), before);
  // As many records, elsewhere in the file.
  const std::uint64_t some = 4 * partition;
  const Source first = open(file_.path(), {.type = ElementType::f4, .count = some});
  const Source second =
      open(file_.path(), {.type = ElementType::f4, .offset = sizeof(float), .count = some});
  const std::filesystem::path kept = path_;
  path_ = dir_.path() / "some.part";
  fold(machine, NamedSum{}, first, after_each());
  expect_error(ErrorKind::usage, "some.part: is of another job",
               [&] { fold(machine, NamedSum{}, second, after_each()); });
  path_ = kept;
  std::vector<float> changed = values();
  changed.front() = 7;
  const test::ValuesFile other;
  const Source copy = other.source_of(changed);
  expect_error(ErrorKind::input_changed, "sum.part: is of the data as they were",
               [&] { fold(machine, NamedSum{}, copy, after_each()); });
  EXPECT_EQ(made("sum.part"), before);

  PartFile part{.question = "1", .input = identity_of(source_)};
  part.add(collect(machine, NamedSum{}, source_).value);
  write_part_file(path_, part, true);
  expect_error(ErrorKind::usage, "is of another job",
               [&] { fold(machine, NamedSum{}, source_, after_each()); });
  std::ofstream(path_) << "a file of the user";
  expect_error(ErrorKind::bad_input, "is not a part",
               [&] { fold(machine, NamedSum{}, source_, after_each()); });
  EXPECT_EQ(made("sum.part"), "a file of the user");
}

// Files of version 0.3 name all extents of the data, those of later ones a fingerprint of them.
TEST_P(CheckpointRefusedTest, RefusesTheFileOfAnEarlierVersion) {
  leave_file();
  PartFile saved = read_part_file(path_);
  constexpr std::string_view now = "\"storage\":", earlier = "\"extents\":";
  const std::size_t place = saved.question.find(now);
  ASSERT_NE(place, std::string::npos);
  saved.question.replace(place, now.size(), earlier);
  write_part_file(path_, saved, true);
  Coordinator machine = coordinator();
  expect_error(ErrorKind::usage, "sum.part: is of another job",
               [&] { fold(machine, NamedSum{}, source_, after_each()); });
}

/// Two fields of a struct, of which an operator reads one or the other.
struct First {
  float a;
  static constexpr auto fields = ooc::fields(field("a", &First::a));
};
struct Second {
  float b;
  static constexpr auto fields = ooc::fields(field("b", &Second::b));
};
template <class Field>
struct FieldSum {
  using Input = Field;
  using Partial = double;
  static constexpr std::size_t partition_records = partition;
  static constexpr std::string_view partial_name = "test.field/1";
  void consume(Stream& stream, DeviceChunk<const Field> in, double& sum) const {
    for (const Field& record : test::on_host<const Field>(stream, in)) {
      sum += std::bit_cast<float>(record);
    }
  }
  void merge(double& total, const double& part) const { total += part; }
};

TEST_P(CheckpointRefusedTest, RefusesTheFindingsInAnotherField) {
  const test::ValuesFile file;
  std::vector<float> both = values();
  both.resize(40 * partition);
  file.source_of(both);
  const Source structs = open(file.path(), {.type = parse_dtype("{a:f4,b:f4}")});
  Coordinator machine = coordinator();
  const auto sum = fold(machine, FieldSum<First>{}, structs, after_each()).value;
  EXPECT_EQ(fold(machine, FieldSum<First>{}, structs, after_each()).value, sum);
  expect_error(ErrorKind::usage, "is of another job",
               [&] { fold(machine, FieldSum<Second>{}, structs, after_each()); });
}

TEST_P(CheckpointRefusedTest, RefusesTheFindingsInValuesOfAnotherType) {
  const Source plain = open_bytes(file_.path());
  Coordinator machine = coordinator();
  const auto sum = fold(machine, FieldSum<float>{}, plain, after_each()).value;
  EXPECT_EQ(fold(machine, FieldSum<float>{}, plain, after_each()).value, sum);
  expect_error(ErrorKind::usage, "is of another job",
               [&] { fold(machine, FieldSum<std::int32_t>{}, plain, after_each()); });
}

/// Adds up bytes.
template <std::size_t records>
struct ByteSum {
  using Input = std::byte;
  using Partial = std::uint64_t;
  static constexpr std::size_t partition_records = records;
  static constexpr std::string_view partial_name = "test.bytes/1";
  void consume(Stream& stream, DeviceChunk<const std::byte> in, std::uint64_t& sum) const {
    for (const std::byte byte : test::on_host<const std::byte>(stream, in)) {
      sum += std::to_integer<std::uint64_t>(byte);
    }
  }
  void merge(std::uint64_t& total, const std::uint64_t& part) const { total += part; }
};

TEST_P(CheckpointRefusedTest, GoesOnAtTheBeginningOfAnElement) {
  Coordinator machine = coordinator();
  EXPECT_EQ(fold(machine, ByteSum<65536>{}, source_, after_each()).value,
            fold(machine, ByteSum<65536>{}, source_).value);
  std::filesystem::remove(path_);
  expect_error(ErrorKind::usage, "a partition is not a whole number of elements",
               [&] { fold(machine, ByteSum<2>{}, source_, after_each()); });
}

/// A sum whose settings are not UTF-8.
struct OddSum : NamedSum {
  std::string question() const { return "\xff"; }
};

TEST_P(CheckpointRefusedTest, SettingsMayBeAnyText) {
  Coordinator machine = coordinator();
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(bits_of(fold(machine, OddSum{}, source_, after_each()).value), bits_of(expected()));
  }
}

/// Adds up values in their order.
struct SumInOrder : test::RoundedSum {
  static constexpr Merge merge_order = Merge::in_order;
};

struct NoValues : Producer {
  std::size_t fill(std::span<std::byte>, const std::stop_token&) override { return 0; }
};

TEST_P(CheckpointRefusedTest, RefusesWhatCannotGoOn) {
  Coordinator machine = coordinator();
  const PassOptions wanted = after_each();
  expect_error(ErrorKind::usage, "the findings of this operator cannot be saved",
               [&] { fold(machine, SumInOrder{}, source_, wanted); });
  expect_error(ErrorKind::usage, "the findings of this operator cannot be saved",
               [&] { fold(machine, test::RoundedSum{}, source_, wanted); });
  expect_error(ErrorKind::usage, "the findings of this operator cannot be saved",
               [&] { map(machine, test::Doubled{}, source_, target("out"), wanted); });
  const Resident kept(machine, source_);
  expect_error(ErrorKind::usage, "data that stay on the device have no checkpoint",
               [&] { fold(machine, NamedSum{}, kept, wanted); });
  PassOptions with_checksum = wanted;
  with_checksum.checksum = true;
  expect_error(ErrorKind::usage, "a job with a checkpoint has no checksum",
               [&] { fold(machine, NamedSum{}, source_, with_checksum); });
  expect_error(ErrorKind::usage, "has no checkpoint", [&] {
    fold(machine, NamedSum{}, produced(std::make_unique<NoValues>(), {ElementType::f4}), wanted);
  });
  expect_error(ErrorKind::usage, "the findings of this operator cannot be saved",
               [&] { fold(machine, WindowSum{}, source_, wanted); });
  PassOptions never = wanted;
  never.checkpoint.every_seconds = std::nan("");
  expect_error(ErrorKind::usage, "is not a number",
               [&] { fold(machine, NamedSum{}, source_, never); });
  EXPECT_FALSE(std::filesystem::exists(path_));
}

INSTANTIATE_TEST_SUITE_P(Machines, CheckpointRefusedTest, test::all_machines, test::machine_name);

}  // namespace
}  // namespace ooc::detail
