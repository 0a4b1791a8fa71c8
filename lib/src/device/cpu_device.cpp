#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/detail/device/decoder.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "device/devices.hpp"
#include "device/memory.hpp"
#include "group/group_records.hpp"

namespace ooc::detail {

namespace {

template <class Word>
Word reversed(Word word) {
  if constexpr (sizeof(Word) == 2) return __builtin_bswap16(word);
  if constexpr (sizeof(Word) == 4) return __builtin_bswap32(word);
  if constexpr (sizeof(Word) == 8) return __builtin_bswap64(word);
}

template <class Word>
void swap_words(void* data, std::size_t bytes) {
  Word* const words = static_cast<Word*>(data);
  for (std::size_t i = 0; i < bytes / sizeof(Word); ++i) words[i] = reversed(words[i]);
}

void move_field(const MovedRecords& records, const FieldMove& move) {
  std::byte* target = records.target + move.to;
  const std::byte* source = records.source + move.from;
  for (std::size_t i = 0; i < records.count; ++i) {
    std::memcpy(target, source, move.bytes);
    target += records.target_bytes;
    source += records.source_bytes;
  }
}

/// Moves a field of elements whose bytes are reversed. They need not be aligned.
template <class Word>
void move_swapped(const MovedRecords& records, const FieldMove& move) {
  std::byte* target = records.target + move.to;
  const std::byte* source = records.source + move.from;
  for (std::size_t i = 0; i < records.count; ++i) {
    for (std::size_t offset = 0; offset < move.bytes; offset += sizeof(Word)) {
      Word word;
      std::memcpy(&word, source + offset, sizeof(Word));
      word = reversed(word);
      std::memcpy(target + offset, &word, sizeof(Word));
    }
    target += records.target_bytes;
    source += records.source_bytes;
  }
}

/// A time stamp. The CPU's streams finish all work before the call returns, so an event has
/// happened when it is recorded.
class CpuEvent final : public Event {
 public:
  void synchronize() override {}
  double seconds_since(const Event& earlier) const override {
    return std::chrono::duration<double>(when_ - dynamic_cast<const CpuEvent&>(earlier).when_)
        .count();
  }
  void happen() { when_ = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point when_{};
};

class CpuStream final : public Stream, public Decoder {
 public:
  explicit CpuStream(MemoryResource& memory) : temporaries_(memory) {}

  DeviceKind kind() const noexcept override { return DeviceKind::cpu; }
  void copy(void* target, const void* source, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(target, source, bytes);  // no bytes: the pointers may be null
  }
  void copy_rows(void* target, std::size_t target_pitch, const void* source,
                 std::size_t source_pitch, std::size_t row_bytes, std::size_t rows) override {
    auto* to = static_cast<std::byte*>(target);
    const auto* from = static_cast<const std::byte*>(source);
    for (; rows > 0; --rows, to += target_pitch, from += source_pitch) {
      std::memcpy(to, from, row_bytes);
    }
  }
  void fill_zero(void* target, std::size_t bytes) override {
    if (bytes != 0) std::memset(target, 0, bytes);
  }
  void gather(std::byte* target, std::span<const std::span<std::byte>> pieces) override {
    for (const std::span<std::byte> piece : pieces) {
      copy(target, piece.data(), piece.size());
      target += piece.size();
    }
  }
  void swap_bytes(void* data, std::size_t bytes, std::size_t element_bytes) override {
    switch (element_bytes) {
      case 1: return;
      case 2: return swap_words<std::uint16_t>(data, bytes);
      case 4: return swap_words<std::uint32_t>(data, bytes);
      case 8: return swap_words<std::uint64_t>(data, bytes);
    }
    throw Error(ErrorKind::internal, "elements of " + std::to_string(element_bytes) + " bytes");
  }
  void make_bools(void* data, std::size_t pitch, std::size_t row_bytes, std::size_t rows) override {
    if (pitch == row_bytes) row_bytes *= std::exchange(rows, rows == 0 ? 0 : 1);
    for (auto* row = static_cast<std::byte*>(data); rows > 0; --rows, row += pitch) {
      for (std::size_t i = 0; i < row_bytes; ++i) row[i] = std::min(row[i], std::byte{1});
    }
  }
  void group(const GroupedRecords& records) override { group_records_cpu(records); }
  void move_fields(const MovedRecords& all, std::span<const FieldMove> moves) override {
    // A few records at a time, so that they are in the cache for all their fields.
    constexpr std::size_t at_once = 1024;
    for (std::size_t done = 0; done < all.count; done += at_once) {
      const MovedRecords records{.target = all.target + done * all.target_bytes,
                                 .target_bytes = all.target_bytes,
                                 .source = all.source + done * all.source_bytes,
                                 .source_bytes = all.source_bytes,
                                 .count = std::min(at_once, all.count - done)};
      for (const FieldMove& move : moves) {
        switch (move.swapped_bytes) {
          case 2: move_swapped<std::uint16_t>(records, move); break;
          case 4: move_swapped<std::uint32_t>(records, move); break;
          case 8: move_swapped<std::uint64_t>(records, move); break;
          default: move_field(records, move);
        }
      }
    }
  }
  void record(Event& event) override { dynamic_cast<CpuEvent&>(event).happen(); }
  void wait(Event& /*event*/) override {}
  void synchronize() override {}
  void check_launch(std::string_view /*what*/) override {}
  void* native() const noexcept override { return nullptr; }
  MemoryResource& temporaries() noexcept override { return temporaries_; }

 private:
  Decoder& decoder() noexcept override { return *this; }

  RecyclingMemory temporaries_;
};

class CpuDevice final : public Device {
 public:
  DeviceKind kind() const noexcept override { return DeviceKind::cpu; }
  std::string name() const override { return "cpu"; }
  void bind_to_thread() override {}
  MeteredMemory& host_memory() override { return host_memory_; }
  MeteredMemory& device_memory() override { return device_memory_; }
  std::uint64_t available_bytes() override { return available_host_bytes(); }
  std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<CpuStream>(device_memory_);
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<CpuEvent>(); }

 private:
  HugePageMemory huge_pages_;
  MeteredMemory host_memory_{huge_pages_, "host memory"};
  MeteredMemory device_memory_{heap_memory(), "memory"};
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() {
  return std::make_unique<CpuDevice>();
}

}  // namespace ooc::detail
