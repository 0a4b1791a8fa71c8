#pragma once

#include <ooc/detail/device/huge_page_memory.hpp>
#include <ooc/device.hpp>
#include <ooc/memory.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ooc::detail::distincts {

/// Values that the lanes of a device have in its memory, where they are only counted.
class CountedValues {
 public:
  virtual ~CountedValues() = default;

  /// The number of values, once all lanes have ended.
  std::uint64_t size() const { return size_; }

  /// Adds to that number. Any thread.
  void add(std::uint64_t more) { size_ += more; }

 private:
  std::atomic<std::uint64_t> size_{0};
};

/// A bit for each value of four bytes, by its bits (see bits_of()): those of all that were seen are
/// set. The lanes of a pass share it, in the memory of their device. It never grows.
class Bitmap final : public CountedValues {
 public:
  static constexpr std::size_t bytes = std::size_t{1} << 29;

  using Word = std::uint32_t;
  static constexpr std::uint32_t word_bits = 32;

  /// Takes its memory from the device of a stream.
  explicit Bitmap(Stream& stream);

  /// False if the device had no memory left for it.
  bool has_memory() const { return words_.size() != 0; }
  Word* words() const { return words_.as<Word>(); }

 private:
  HugePageMemory host_memory_{};
  Buffer words_{};
};

}  // namespace ooc::detail::distincts
