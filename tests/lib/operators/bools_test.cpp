// Tests operators that read bool from .npy files, in which any byte but 0 stands for 1.

#include <ooc/chunks.hpp>
#include <ooc/filter.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/records.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/dataset/npy_text.hpp"
#include "lib/inputs/fields_fixture.hpp"

namespace ooc::detail {
namespace test {

struct Flagged {
  std::uint8_t flag;  // padding follows
  float x;

  static constexpr auto fields =
      ooc::fields(field("flag", &Flagged::flag), field("x", &Flagged::x));
};

/// The same as it is stored.
struct [[gnu::packed]] Packed {
  std::uint8_t padding;
  std::uint8_t flag;
  std::array<std::byte, 4> x;

  static constexpr auto fields = ooc::fields(field("flag", &Packed::flag));
};

}  // namespace test

namespace {

using test::Flagged;
using test::on_host;
using test::Packed;
using test::to_device;

constexpr std::size_t count = 200'000;

/// Bytes of all values, half of which are 0.
std::vector<std::uint8_t> stored() {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 1; i < count; i += 2) {
    bytes[i] = static_cast<std::uint8_t>(i / 2 % 255 + 1);
  }
  return bytes;
}

struct SumBytes {
  using Input = std::uint8_t;
  using Partial = std::uint64_t;
  void consume(Stream& stream, DeviceChunk<const Input> in, Partial& sum) const {
    for (const Input each : on_host<const Input>(stream, in)) sum += each;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

struct SumFlags {
  using Input = Flagged;
  using Partial = std::uint64_t;
  void consume(Stream& stream, DeviceChunk<const Input> in, Partial& sum) const {
    for (const Input& each : on_host<const Input>(stream, in)) sum += each.flag;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

/// Keeps what is 1.
struct Ones {
  using Input = std::uint8_t;
  using Output = std::uint8_t;
  void select(Stream& stream, DeviceSpan<const Input> in, DeviceSpan<Output> out,
              std::uint64_t* kept) const {
    std::vector<Input> found = on_host<const Input>(stream, in);
    std::erase_if(found, [](Input each) { return each != 1; });
    to_device<Output>(stream, out.data, found);
    to_device(stream, kept, std::uint64_t{found.size()});
  }
};

}  // namespace

class BoolsTest : public test::FieldsFixture {
 protected:
  Source bools() const {
    const std::vector<std::uint8_t> bytes = stored();
    return write_npy("bools.npy", "'|b1'", std::as_bytes(std::span(bytes)));
  }

  /// A file of structs with a bool, and a byte between its fields.
  Source structs() const {
    const std::vector<std::uint8_t> bytes = stored();
    std::vector<std::byte> data;
    for (const std::uint8_t byte : bytes) {
      data.insert(data.end(), {std::byte{9}, std::byte{byte}, {}, {}, {}, {}});
    }
    return write_npy("structs.npy", "[('', '|V1'), ('flag', '|b1'), ('x', '<f4')]", data);
  }

 private:
  Source write_npy(const std::string& name, const std::string& descr,
                   std::span<const std::byte> data) const {
    const std::string shape = "(" + std::to_string(count) + ",)";
    const std::string header = test::npy(test::header_of(descr, "False", shape), 0);
    const auto text = std::as_bytes(std::span(header));
    std::vector<std::byte> file(text.begin(), text.end());
    file.insert(file.end(), data.begin(), data.end());
    return open(dir_.write(name, file));
  }
};

INSTANTIATE_TEST_SUITE_P(All, BoolsTest, testing::Values("cpu", "cuda", "late", "late_host"),
                         [](const auto& device) { return std::string(device.param); });

TEST_P(BoolsTest, AreZeroOrOneInFolds) {
  EXPECT_EQ(fold(*coordinator_, SumBytes{}, bools()).value, count / 2);
}

TEST_P(BoolsTest, AreZeroOrOneInStructs) {
  EXPECT_EQ(fold(*coordinator_, SumFlags{}, structs()).value, count / 2);
}

TEST_P(BoolsTest, AreZeroOrOneInFilters) {
  const Target out = target("ones.u8", {ElementType::u1});
  EXPECT_EQ(filter(*coordinator_, Ones{}, bools(), out).value.kept, count / 2);
}

TEST_P(BoolsTest, AreZeroOrOneInChunks) {
  const Source source = bools();
  const std::unique_ptr<Stream> stream = coordinator_->device().make_stream();
  std::uint64_t sum = 0;
  Chunks chunks(*coordinator_, source);
  while (const auto lease = chunks.next(*stream)) {
    for (const std::uint8_t each :
         on_host<const std::uint8_t>(*stream, lease->rows<std::uint8_t>()))
      sum += each;
  }
  EXPECT_EQ(sum, count / 2);
}

TEST_P(BoolsTest, AreZeroOrOneInChunksOfStructs) {
  const Source source = structs();
  const std::unique_ptr<Stream> stream = coordinator_->device().make_stream();
  std::uint64_t sum = 0;
  Chunks chunks(*coordinator_, source);
  while (const auto lease = chunks.next(*stream)) {
    for (const Packed& each : on_host<const Packed>(*stream, lease->rows<Packed>())) {
      sum += each.flag;
    }
  }
  EXPECT_EQ(sum, count / 2);
}

TEST_P(BoolsTest, KeepTheChecksumOfTheirBytes) {
  const std::vector<std::uint8_t> bytes = stored();
  const Source same = open(dir_.write("same.u8", std::as_bytes(std::span(bytes))));
  const PassOptions wanted{.checksum = true};
  const auto raw = fold(*coordinator_, SumBytes{}, same, wanted);
  // The header is not among the data.
  EXPECT_EQ(fold(*coordinator_, SumBytes{}, bools(), wanted).stats.outcome.checksum,
            raw.stats.outcome.checksum);
  EXPECT_GT(raw.value, count);
}

TEST_P(BoolsTest, AreNotMixedWithBytes) {
  const std::vector<std::uint8_t> bytes = stored();
  const auto path = dir_.write("bytes.u8", std::as_bytes(std::span(bytes)));
  const std::string bool_path = bools().name();
  const std::vector<std::filesystem::path> paths{bool_path, path};
  EXPECT_THROW(open(paths), Error);
}

}  // namespace ooc::detail
