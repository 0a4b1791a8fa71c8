#pragma once

#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/device.hpp>
#include <ooc/memory.hpp>
#include <ooc/source.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ooc::detail {

/// Device memory that holds the first records of one or several sources from pass to pass, as
/// operators read them: in this machine's byte order. Each byte has its place there, whatever the
/// chunks of a pass are. It may be memory of the program, which holds all records.
class ResidentMemory {
 public:
  /// `most_bytes`: see ResidentOptions::device_bytes.
  ResidentMemory(Device& device, const std::vector<const Source*>& sources,
                 std::uint64_t most_bytes);

  /// The memory of the program in which the sources are: see from_device_memory().
  explicit ResidentMemory(const std::vector<const Source*>& sources);

  /// True if it is memory of the program.
  bool is_given() const noexcept { return device_ == nullptr; }

  std::size_t sources() const noexcept { return parts_.size(); }
  const Source& source(std::size_t index) const noexcept { return *parts_[index].source; }

  /// Returns the size of the records that are held, of all sources (bytes).
  std::uint64_t bytes() const noexcept;

  /// Number of the records that are held, given their shape in each source.
  std::uint64_t records(std::span<const RecordShape> shapes) const noexcept;

  /// True if a pass that reads the whole sources is to fill the memory.
  bool wants_data() const noexcept { return may_take_ && bytes() == 0; }

  /// Allocates the memory, unless that was done before. `needed_bytes`: size of the buffers of a
  /// pass that are not allocated yet. The device must be bound to this thread. Allocates less, or
  /// nothing, if the device has no more.
  void reserve(std::uint64_t needed_bytes);

  /// Throws Error(usage) unless the memory is on this device. If the device is bound to this
  /// thread, memory of the program is looked at, too.
  void require_on(Device& device, bool is_bound) const;

  /// Throws Error(usage) unless a source in memory of the program is aligned to that many bytes.
  void require_alignment(std::size_t source, std::size_t alignment) const;

  /// Returns the place of `bytes` bytes of a source from byte `first` on; null if they have none.
  std::byte* place(std::size_t source, std::uint64_t first, std::uint64_t bytes) const noexcept;

  /// Marks the first `records` records as held, or as many as there are places for, in whole steps
  /// of `step_records`.
  void hold(std::uint64_t records, std::uint64_t step_records,
            std::span<const RecordShape> shapes) noexcept;

  /// Count the bytes here that operators of a pass have used. begin_pass() resets them. Any thread.
  void begin_pass() noexcept { used_ = 0; }
  void count_used(std::uint64_t bytes) noexcept { used_ += bytes; }
  std::uint64_t used_bytes() const noexcept { return used_; }

  /// Returns what keeps the memory if an address lies in it, else null.
  std::shared_ptr<const void> owner_of(const void* address) const noexcept;

  /// Gives the memory back, and takes no more. Returns false if there was none.
  bool release() noexcept;

 private:
  /// The kept records of a source.
  struct PartialResult {
    const Source* source;
    std::uint64_t begin = 0;     // of its place in the memory
    std::uint64_t places = 0;    // bytes that have one
    std::byte* given = nullptr;  // its place in memory of the program
    std::uint64_t held = 0;      // bytes
  };

  std::uint64_t source_bytes() const noexcept;
  std::uint64_t divide(std::uint64_t bytes) noexcept;

  Device* device_ = nullptr;  // null for memory of the program
  std::uint64_t most_bytes_ = 0;
  bool may_take_ = false;
  std::shared_ptr<Buffer> memory_;  // null, or not empty
  std::vector<PartialResult> parts_;
  std::atomic<std::uint64_t> used_{0};
};

/// Returns the memory of the program in which the sources are; null if they are elsewhere. Throws
/// Error(usage) if only some of them are there.
std::shared_ptr<ResidentMemory> given_memory(const std::vector<const Source*>& sources);

/// Returns memory in which as much of the sources as fits stays between passes: that of the
/// program, or else `device_bytes` of the device at most, which the first pass takes (see
/// Resident). Throws Error(usage) for a source that can be read once only.
std::shared_ptr<ResidentMemory> kept_memory(Device& device,
                                            const std::vector<const Source*>& sources,
                                            std::uint64_t device_bytes);

/// Returns the memory that keeps all inputs of a pass; null if there is none.
ResidentMemory* resident_memory_of(std::span<const PassInput> inputs);

}  // namespace ooc::detail
