#pragma once

#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/device.hpp>
#include <ooc/memory.hpp>
#include <ooc/stats.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pass/pass_parts.hpp"

namespace ooc::detail {

/// The records of a step, in memory that device code can read, as they are stored.
struct FedStep {
  std::size_t index;
  RecordRange records;
  Margin margin;                                  // records around them in `inputs`
  std::span<const DeviceSpan<std::byte>> inputs;  // of each
  std::size_t buffer;  // 0 or 1: of the lane's input buffers, for feeds that have two
  bool is_resident;    // kept from an earlier pass, with elements that are swapped already
  Chunk* chunk;        // in its slot; null if the slot has been given back
};

/// Brings the data of a lane's steps to the device. Belongs to the lane's thread.
class Feed {
 public:
  virtual ~Feed() = default;

  /// Draws a step and returns its data, which stay until the next call. Returns nothing if there
  /// are no more steps. Throws Error, Aborted.
  virtual std::optional<FedStep> next() = 0;

 protected:
  /// `before_waiting` is called before the lane waits for a read: it gives back the slots that the
  /// lane still has, since the reader may need them. All references must outlive the feed.
  Feed(const PassParts& pass, std::size_t lane, Stream& stream, StageTimes& h2d,
       std::function<void()> before_waiting);

  /// Draws a step, if the plan has one more. If a stop request has ended the steps, also ends the
  /// sequence of the pool, which wakes the threads that wait there.
  std::optional<std::size_t> draw();

  /// Blocks until a chunk is loaded. Its step has been drawn. Returns null if a producer has ended
  /// before it.
  Chunk* wait_for_chunk(std::size_t index);

  /// Adds a chunk to the checksum of the pass, if there is one.
  void add_to_checksum(const Chunk& chunk);

  /// Sets where each input of a step is to be: in the memory that keeps the inputs, if it has
  /// places there, or in a buffer.
  void choose_places(std::size_t step, std::byte* buffer, std::span<std::byte*> places) const;

  /// Enqueues the copies of a chunk to the places of its step. Returns their size (bytes).
  std::size_t copy(const Chunk& chunk, std::size_t step, std::span<std::byte* const> places);

  /// Describes a step of which `read` was read, and whose inputs are in `places`.
  FedStep describe(std::size_t step, RecordRange read, std::span<std::byte* const> places,
                   std::size_t buffer, Chunk* chunk);

  const PassParts& pass_;
  std::size_t lane_;
  Stream& stream_;
  StageTimes& h2d_;

 private:
  std::function<void()> before_waiting_;
  std::array<std::vector<DeviceSpan<std::byte>>, 2> inputs_;  // by buffer
};

/// The feed of devices that read host memory. A step is used in its slot, or copied if it is not
/// one aligned piece of memory.
class HostFeed final : public Feed {
 public:
  /// `gathered`: memory for a step, if some steps have to be copied.
  HostFeed(const PassParts& pass, std::size_t lane, Stream& stream, StageTimes& h2d,
           std::function<void()> before_waiting, Buffer& gathered);

  std::optional<FedStep> next() override;

 private:
  bool is_in_place(const Chunk& chunk) const;

  Buffer& gathered_;
  std::vector<std::byte*> places_;  // of each input of a step
};

/// Device memory for a step or a result, and the events of its copy from or to the host.
struct CopyBuffer {
  std::size_t bytes = 0;  // size that the memory needs
  Buffer memory;
  std::unique_ptr<Event> copy_begun, copied;
};

/// Copies steps to the device. With two buffers, the next step is copied while the operator works
/// on this one. Steps that consist of several pieces, or are lent, have one buffer.
class CopyFeed final : public Feed {
 public:
  CopyFeed(const PassParts& pass, std::size_t lane, Stream& stream, StageTimes& h2d,
           std::function<void()> before_waiting, std::array<CopyBuffer, 2>& memory,
           std::size_t buffers, EventReporter& reporter, StageTimes& kernel);

  std::optional<FedStep> next() override;

 private:
  /// A step that this lane has drawn and not returned yet, if `step` is set.
  struct Drawn {
    std::optional<std::size_t> step{};
    std::vector<std::byte*> places{};  // of each input
    bool is_resident = false;          // an earlier pass has left the records there
    std::size_t next_piece = 0;        // first one whose copy is not enqueued
    std::vector<Chunk*> copying{};     // pieces whose copies are enqueued
    RecordRange read{};                // the records of the step, with its margin
    std::size_t bytes_enqueued = 0, bytes_copied = 0;
  };

  bool is_loaded(std::size_t step) const;
  bool draw_into(Drawn& drawn, CopyBuffer& buffer);
  bool fill(Drawn& drawn, CopyBuffer& buffer);
  void copy_piece(Drawn& drawn, CopyBuffer& buffer, Chunk& chunk);
  void finish_copies(Drawn& drawn, CopyBuffer& buffer);
  void wait_for_copies(Drawn& drawn, CopyBuffer& buffer);
  void copy_ahead();

  std::array<CopyBuffer, 2>& memory_;
  std::size_t buffers_;  // of these
  EventReporter& reporter_;
  StageTimes& kernel_;
  std::array<Drawn, 2> drawn_;
  std::size_t turn_ = 0;
};

}  // namespace ooc::detail
