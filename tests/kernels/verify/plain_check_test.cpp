#include "verify/plain_check.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <stop_token>
#include <thread>
#include <vector>

#include "io/expect_error.hpp"
#include "support/data_file.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail::plain {
namespace {

TEST(PlainCheck, ValuesOfSixteenBitsAreByDefinition) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    for (const auto& [ours, theirs] :
         {std::pair{value_of(Float16{half}), to_double(Float16{half})},
          std::pair{value_of(BFloat16{half}), to_double(BFloat16{half})}}) {
      if (theirs != theirs) {
        EXPECT_NE(ours, ours) << bits;
      } else {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(ours), std::bit_cast<std::uint64_t>(theirs)) << bits;
      }
    }
  }
}

TEST(PlainCheck, IntegersAreWidened) {
  EXPECT_EQ(value_of(std::int8_t{-5}), std::int64_t{-5});
  EXPECT_EQ(value_of(std::uint64_t{1} << 63), std::uint64_t{1} << 63);
}

TEST(PlainCheck, WhatDiffers) {
  const test::TempDir dir;
  const Source source = open_bytes(dir.write("x", "1"));
  require_same(source, "sum", 1.5, 1.5);
  require_same(source, "sum", std::nan("1"), std::nan("2"));
  require_same(source, "sum", Scalar{}, Scalar{});
  const auto expect_difference = [&](std::string_view text, const Scalar& left,
                                     const Scalar& right) {
    test::expect_error(ErrorKind::verify, text, [&] { require_same(source, "sum", left, right); });
  };
  expect_difference("x: sum is 0.1, but 0.10000000000000002 when", 0.1, 0.10000000000000002);
  expect_difference("sum is 0, but -0 when", 0.0, -0.0);
  expect_difference("sum is NaN, but inf when", std::nan(""), HUGE_VAL);
  expect_difference("sum is -7, but 18446744073709551616 when", int128{-7}, int128{1} << 64);
  expect_difference("sum is nothing, but 0 when", Scalar{}, int128{0});
}

/// The indices of the elements that each thread saw, in order. Each element is its own index.
struct Places {
  std::vector<std::uint32_t> seen{};
  bool rising = true;

  std::size_t bytes() const { return sizeof(*this); }

  void take(std::span<const std::uint32_t> elements, std::uint64_t first) {
    rising = rising && (seen.empty() || seen.back() < first);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      EXPECT_EQ(elements[i], first + i);
      seen.push_back(elements[i]);
    }
  }
  void merge(const Places& other) {
    rising = rising && other.rising;
    seen.insert(seen.end(), other.seen.begin(), other.seen.end());
  }
};

class ReadAllTest : public testing::Test {
 protected:
  static constexpr std::size_t count = 5 * block_elements + 321;

  void SetUp() override { std::iota(values_.begin(), values_.end(), 0u); }

  Places look_at_all(const Source& source, const Options& options = {.streams = 3},
                     const PassOptions& wanted = {}) {
    return plain::look_at_all<std::uint32_t>(options, wanted, source, Places{});
  }

  void expect_every_place(Places places) {
    EXPECT_TRUE(places.rising);
    std::ranges::sort(places.seen);
    EXPECT_TRUE(places.seen == values_);
  }

  std::filesystem::path write(const std::vector<std::uint32_t>& values) {
    test::write_file(dir_.path() / "x.u32", values);
    return dir_.path() / "x.u32";
  }

  test::TempDir dir_;
  std::vector<std::uint32_t> values_ = std::vector<std::uint32_t>(count);
};

TEST_F(ReadAllTest, EachElementOnce) {
  const Source source = open(write(values_));
  for (const std::size_t streams : {1, 2, 16}) {
    expect_every_place(look_at_all(source, {.streams = streams}));
  }
}

TEST_F(ReadAllTest, InTheOtherByteOrder) {
  std::vector<std::uint32_t> swapped = values_;
  for (std::uint32_t& value : swapped) value = __builtin_bswap32(value);
  expect_every_place(look_at_all(open(write(swapped), {.type = DType{ElementType::u4, true}})));
}

/// Extents of a source may begin in the middle of an element.
TEST_F(ReadAllTest, InPieces) {
  test::write_file(dir_.path() / "x", values_, 5);
  std::vector<File> files;
  for (int i = 0; i < 2; ++i) files.push_back(File::open(dir_.path() / "x"));
  const std::uint64_t bytes = 4 * count;
  const Source source = SourceAccess::of_files(
      std::move(files), {{0, 5, 3}, {0, 8, 0}, {1, 8, 700'000}, {0, 700'008, bytes - 700'003}},
      {ElementType::u4});
  expect_every_place(look_at_all(source));
}

TEST_F(ReadAllTest, NothingIsSeenOfNoElements) {
  EXPECT_TRUE(look_at_all(open(write({}))).seen.empty());
}

TEST_F(ReadAllTest, ReportsProgress) {
  Progress last;
  std::size_t reports = 0;
  look_at_all(open(write(values_)), {.streams = 2}, {.progress = [&](const Progress& progress) {
                EXPECT_GE(progress.bytes, last.bytes);
                last = progress;
                ++reports;
              }});
  EXPECT_GE(reports, 1u);
  EXPECT_EQ(last.bytes, 4 * count);
  EXPECT_EQ(last.total_bytes, 4 * count);
  EXPECT_EQ(last.in_flight, 0u);
}

TEST_F(ReadAllTest, CanBeStopped) {
  std::stop_source stop;
  stop.request_stop();
  test::expect_error(ErrorKind::interrupted, "before the result was verified", [&] {
    look_at_all(open(write(values_)), {.streams = 2}, {.stop = stop.get_token()});
  });
}

TEST_F(ReadAllTest, NoticesThatAFileHasChanged) {
  const auto path = write(values_);
  const Source source = open(path);
  std::filesystem::resize_file(path, 4 * count - 1);
  test::expect_error(ErrorKind::input_changed, "shrank while it was read, from",
                     [&] { look_at_all(source); });
  std::filesystem::resize_file(path, 4 * count + 1);
  test::expect_error(ErrorKind::input_changed, "changed while it was read",
                     [&] { look_at_all(source); });
}

TEST(PlainCheck, ThreadsKeepWithinTheMemory) {
  constexpr std::size_t look_bytes = 8 * MiB;
  const auto threads = [&](std::size_t memory_bytes) {
    return threads_for({.streams = 16, .memory_bytes = memory_bytes}, look_bytes);
  };
  EXPECT_EQ(threads(1), 1u);
  EXPECT_EQ(threads(look_bytes), 1u);
  EXPECT_EQ(threads(36 * MiB), 3u);  // 3 x 8.5 MiB, and 8 MiB for the initial value
  EXPECT_EQ(threads(1 * GiB), 16u);
  EXPECT_EQ(threads_for({.streams = 16}, std::size_t{1} << 62), 1u);
}

TEST_F(ReadAllTest, SaysWhyADiskFails) {
  const Source source = open(write(values_));
  // Address 0 of a process is not mapped, and reading it from /proc/self/mem fails with EIO.
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(memory, 0);
  ASSERT_GE(::dup2(memory, ooc::detail::files_of(source).front().buffered()), 0);
  ::close(memory);
  try {
    look_at_all(source);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.details().why, "the disk could not deliver this block");
  }
}

TEST_F(ReadAllTest, LeavesTheRestWhenProgressThrows) {
  // Progress is reported every tenth of a second; all blocks would take a minute.
  test::write_file(dir_.path() / "x", std::vector<std::uint8_t>{});
  std::filesystem::resize_file(dir_.path() / "x", 600 * block_elements);
  const Source source = open(dir_.path() / "x", {.type = DType{ElementType::u1}});
  std::atomic<std::size_t> looks = 0;
  EXPECT_THROW(read_all({.progress = [](const Progress&) { throw 7; }}, source, 1,
                        [&](std::size_t, std::span<const std::byte>, std::uint64_t) {
                          ++looks;
                          std::this_thread::sleep_for(std::chrono::milliseconds(100));
                        }),
               int);
  EXPECT_LT(looks, 600u);
}

TEST_F(ReadAllTest, KeepsWhatALookThrows) {
  const Source source = open(write(values_));
  EXPECT_THROW(read_all({}, source, 3,
                        [](std::size_t, std::span<const std::byte>, std::uint64_t) { throw 7; }),
               int);
}

}  // namespace
}  // namespace ooc::detail::plain
