#pragma once

#include <ooc/detail/device/buffer.hpp>
#include <ooc/device.hpp>
#include <ooc/source.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ooc::detail {

/// Device memory that holds the first part of a source from pass to pass, as operators read it: in
/// this machine's byte order. Each byte has its place there, whatever the chunks of a pass are.
class ResidentMemory {
 public:
  /// `most_bytes`: see ResidentOptions::device_bytes.
  ResidentMemory(Device& device, const Source& source, std::uint64_t most_bytes);

  const Source& source() const noexcept { return source_; }

  /// Size of the part of the source that is held (bytes).
  std::uint64_t bytes() const noexcept { return held_; }

  /// True if a pass that reads the whole source is to fill the memory.
  bool wants_data() const noexcept { return held_ == 0 && may_take_; }

  /// Takes memory for what is to be held, unless it has some. `needed_bytes`: of the buffers of a
  /// pass that are not allocated yet. The device is bound to this thread. Takes less, or none, if
  /// the device has no more.
  void reserve(std::uint64_t needed_bytes);

  /// Throws Error(usage) unless it is on this device.
  void require_on(const Device& device) const;

  /// Returns the place of `bytes` bytes of the source from byte `first` on; null if they have none.
  std::byte* place(std::uint64_t first, std::uint64_t bytes) const noexcept;

  /// The places of the first `bytes` bytes of the source hold these now, or as many as there are
  /// places for, in whole steps of `step_bytes`.
  void hold(std::uint64_t bytes, std::uint64_t step_bytes) noexcept;

  /// Bytes that operators of a pass have used there. begin_pass() sets them to 0. Any thread.
  void begin_pass() noexcept { used_ = 0; }
  void count_used(std::uint64_t bytes) noexcept { used_ += bytes; }
  std::uint64_t used_bytes() const noexcept { return used_; }

  /// Gives the memory back, and takes no more. Returns false if there was none.
  bool release() noexcept;

 private:
  Device& device_;
  const Source& source_;
  std::uint64_t most_bytes_;
  bool may_take_;
  Buffer memory_;
  std::uint64_t held_ = 0;
  std::atomic<std::uint64_t> used_{0};
};

}  // namespace ooc::detail
