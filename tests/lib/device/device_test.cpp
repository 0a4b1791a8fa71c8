#include <ooc/detail/device/decoder.hpp>
#include <ooc/device.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>
#include <ooc/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "support/devices.hpp"
#include "support/failing_threads.hpp"
#include "support/fault.hpp"

namespace ooc::detail {
namespace {

class DeviceTest : public testing::TestWithParam<DeviceKind> {};

INSTANTIATE_TEST_SUITE_P(Devices, DeviceTest, test::all_devices, test::device_name);

TEST_P(DeviceTest, CopiesThereAndBack) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto device = make_device(GetParam());
  const auto stream = device->make_stream();
  const auto begun = device->make_event();
  const auto ended = device->make_event();
  constexpr std::size_t bytes = 3'000'001;
  const Buffer host(device->host_memory(), bytes);
  const Buffer there(device->device_memory(), bytes);
  const Buffer back(device->host_memory(), bytes);
  for (std::size_t i = 0; i < bytes; ++i) host.data()[i] = static_cast<std::byte>(i * 7);
  stream->record(*begun);
  stream->copy(there.data(), host.data(), bytes);
  stream->copy(back.data(), there.data(), bytes);
  stream->record(*ended);
  ended->synchronize();
  EXPECT_EQ(std::memcmp(host.data(), back.data(), bytes), 0);
  EXPECT_GE(ended->seconds_since(*begun), 0.0);
}

TEST_P(DeviceTest, CopiesRowsOfOnePitchIntoAnother) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto device = make_device(GetParam());
  const auto stream = device->make_stream();
  constexpr std::size_t rows = 7, row_bytes = 30, pitch = 41, pitch_there = 64, pitch_back = 33;
  std::vector<unsigned char> host(rows * pitch), back(rows * pitch_back, 0xee);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i * 7);
  const Buffer there(device->device_memory(), rows * pitch_there);
  stream->copy_rows(there.data(), pitch_there, host.data(), pitch, row_bytes, rows);
  stream->copy_rows(back.data(), pitch_back, there.data(), pitch_there, row_bytes, rows);
  stream->synchronize();
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < pitch_back; ++i) {
      EXPECT_EQ(back[row * pitch_back + i], i < row_bytes ? host[row * pitch + i] : 0xee)
          << row << ", " << i;
    }
  }
}

TEST_P(DeviceTest, StreamsWaitForEventsOfOthers) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto device = make_device(GetParam());
  const auto first = device->make_stream();
  const auto second = device->make_stream();
  const auto filled = device->make_event();
  constexpr std::size_t bytes = 30'000'000;
  const Buffer host(device->host_memory(), bytes);
  const Buffer there(device->device_memory(), bytes);
  const Buffer back(device->host_memory(), bytes);
  for (int round = 1; round < 10; ++round) {
    std::memset(host.data(), round, bytes);
    first->copy(there.data(), host.data(), bytes);
    first->record(*filled);
    second->wait(*filled);
    second->copy(back.data(), there.data(), bytes);
    second->synchronize();
    EXPECT_EQ(std::memcmp(back.data(), host.data(), bytes), 0) << round;
  }
}

TEST_P(DeviceTest, FillsWithZeros) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto device = make_device(GetParam());
  const auto stream = device->make_stream();
  const Buffer there(device->device_memory(), 1000);
  std::vector<char> back(1000, 1);
  stream->fill_zero(there.data(), 1000);
  stream->copy(back.data(), there.data(), back.size());
  stream->synchronize();
  EXPECT_TRUE(std::ranges::all_of(back, [](char c) { return c == 0; }));
}

TEST_P(DeviceTest, SwapsBytesOfEachElement) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto device = make_device(GetParam());
  const auto stream = device->make_stream();
  for (const std::size_t element : {1u, 2u, 4u, 8u}) {
    for (const std::size_t count : {0u, 1u, 3u, 1000u, 300'001u}) {
      const std::size_t bytes = count * element;
      std::vector<unsigned char> data(bytes + 1, 0xee);
      for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<unsigned char>(i * 31);
      std::vector<unsigned char> expected = data;
      for (std::size_t i = 0; i < bytes; i += element) {
        std::reverse(expected.begin() + static_cast<std::ptrdiff_t>(i),
                     expected.begin() + static_cast<std::ptrdiff_t>(i + element));
      }
      const Buffer there(device->device_memory(), bytes + 1);
      stream->copy(there.data(), data.data(), bytes + 1);
      decoder_of(*stream).swap_bytes(there.data(), bytes, element);
      stream->copy(data.data(), there.data(), bytes + 1);
      stream->synchronize();
      EXPECT_EQ(data, expected) << element << " x " << count;
    }
  }
}

TEST_P(DeviceTest, MakesBools) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto device = make_device(GetParam());
  const auto stream = device->make_stream();
  for (const std::size_t row_bytes : {1u, 3u, 7u}) {
    for (const std::size_t rows : {0u, 1u, 1000u, 300'001u}) {
      constexpr std::size_t pitch = 7;
      std::vector<unsigned char> data(rows * pitch + 1);
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * 31);
      std::vector<unsigned char> expected = data;
      for (std::size_t i = 0; i < rows * pitch; ++i) {
        if (i % pitch < row_bytes) expected[i] = data[i] == 0 ? 0 : 1;
      }
      const Buffer there(device->device_memory(), data.size());
      stream->copy(there.data(), data.data(), data.size());
      decoder_of(*stream).make_bools(there.data(), pitch, row_bytes, rows);
      stream->copy(data.data(), there.data(), data.size());
      stream->synchronize();
      EXPECT_EQ(data, expected) << row_bytes << " x " << rows;
    }
  }
}

TEST_P(DeviceTest, MovesFieldsOfEachRecord) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto device = make_device(GetParam());
  const auto stream = device->make_stream();
  // Odd places, so that fields are copied by bytes, and places that allow words of each size.
  struct Case {
    std::size_t source_bytes, target_bytes;
    std::vector<FieldMove> moves;
  };
  std::vector<Case> cases{
      {13, 11, {{1, 0, 3, 0}, {5, 4, 4, 4}, {9, 9, 2, 2}}},
      {24, 32, {{16, 0, 8, 0}, {0, 24, 8, 8}, {8, 8, 8, 4}, {8, 16, 6, 2}}},
      {12, 8, {{8, 0, 4, 0}, {0, 4, 4, 0}}},
      {6, 4, {{4, 0, 2, 0}, {0, 2, 2, 0}}},
  };
  cases.push_back({250, 250, {}});
  for (std::size_t i = 0; i < 250; ++i) cases.back().moves.push_back({i, 249 - i, 1, 0});
  for (const auto& [source_bytes, target_bytes, moves] : cases) {
    for (const std::size_t count : {0u, 1u, 1025u, 30'001u}) {
      std::vector<unsigned char> source(count * source_bytes + 1);
      for (std::size_t i = 0; i < source.size(); ++i)
        source[i] = static_cast<unsigned char>(i * 31);
      std::vector<unsigned char> expected(count * target_bytes + 1, 0xee);
      const std::vector<unsigned char> before = expected;
      for (std::size_t i = 0; i < count; ++i) {
        for (const FieldMove& move : moves) {
          for (std::size_t k = 0; k < move.bytes; ++k) {
            const std::size_t last = move.swapped_bytes == 0 ? 0 : move.swapped_bytes - 1;
            const std::size_t place = k / (last + 1) * (last + 1) + (last - k % (last + 1));
            expected[i * target_bytes + move.to + place] = source[i * source_bytes + move.from + k];
          }
        }
      }
      const Buffer from(device->device_memory(), source.size());
      const Buffer to(device->device_memory(), expected.size());
      stream->copy(from.data(), source.data(), source.size());
      stream->copy(to.data(), before.data(), before.size());
      decoder_of(*stream).move_fields({to.data(), target_bytes, from.data(), source_bytes, count},
                                      moves);
      std::vector<unsigned char> found(expected.size());
      stream->copy(found.data(), to.data(), found.size());
      stream->synchronize();
      EXPECT_EQ(found, expected) << source_bytes << " x " << count;
    }
  }
}

TEST_P(DeviceTest, RecyclesTemporaries) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto device = make_device(GetParam());
  const auto stream = device->make_stream();
  { const Buffer first(stream->temporaries(), 1000); }
  const auto before = device->device_memory().allocations();
  { const Buffer again(stream->temporaries(), 1000); }
  EXPECT_EQ(device->device_memory().allocations(), before);
}

TEST(Device, SaysWhyThereIsNoGpu) {
  if (why_no_gpu().empty()) {
    EXPECT_EQ(best_device()->kind(), DeviceKind::cuda);
    EXPECT_THROW(make_device(DeviceKind::cuda, 1000)->bind_to_thread(), Error);
    return;
  }
  EXPECT_EQ(best_device()->kind(), DeviceKind::cpu);
  try {
    make_device(DeviceKind::cuda)->bind_to_thread();
    FAIL() << "a device that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_NE(advice(error.details()).find("set Device::kind to cpu"), std::string::npos);
  }
}

TEST(CudaDevice, StartsWithoutAThreadOfItsOwn) {
  OOC_SKIP_WITHOUT(DeviceKind::cuda);
  test::Fault fault(0, test::Fault::Mode::once);
  const test::FailingThreads failing(fault);
  const auto device = make_device(DeviceKind::cuda);
  EXPECT_TRUE(fault.has_struck());
  device->bind_to_thread();
  EXPECT_FALSE(device->name().empty());
}

TEST(CudaDevice, SaysThatNoThreadCanBeHadForItsHostMemory) {
  OOC_SKIP_WITHOUT(DeviceKind::cuda);
  constexpr std::size_t bytes = 64 * MiB;
  const auto device = make_device(DeviceKind::cuda);
  device->bind_to_thread();
  {
    test::Fault fault(0, test::Fault::Mode::from_then_on);
    const test::FailingThreads failing(fault);
    EXPECT_THROW(Buffer(device->host_memory(), bytes), Error);
  }
  const Buffer memory(device->host_memory(), bytes);
  EXPECT_EQ(memory.size(), bytes);
}

}  // namespace
}  // namespace ooc::detail
