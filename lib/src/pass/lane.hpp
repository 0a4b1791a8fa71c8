#pragma once

#include <ooc/buffer.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/device.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "observe/stopwatch.hpp"
#include "pass/lane_readers.hpp"

namespace ooc {

class Checksum;

/// What all lanes of a pass share.
struct Pass {
  const SequentialPlan& plan;
  ChunkPool& pool;
  LaneReaders* readers;  // null: a thread of its own loads the chunks
  Operation& operation;
  Checksum* checksum;  // null: not wanted
  std::size_t lanes;
  std::size_t element_bytes;
  std::size_t swapped_bytes;  // of the source's elements, if not in this machine's byte order; or 0
  const Stopwatch& watch;
  const Observe& observe;
  const Output* output;      // null: nothing is written
  std::size_t output_place;  // where in a slot what is computed goes (bytes)

  std::size_t output_bytes(std::size_t input_bytes) const {
    return output == nullptr ? 0 : input_bytes / element_bytes * output->element_bytes;
  }
};

/// One stream, its device memory and, during a pass, the thread that calls run(). Takes every
/// lanes-th chunk of the pool through the operation, or those that LaneReaders have it load.
class Lane {
 public:
  Lane(Device& device, std::size_t index);

  /// Between passes: says that chunks of `chunk_bytes` will come, of which `output_bytes` are made,
  /// and gives back what is of another size. A GPU's lane always copies them; the CPU's consumes
  /// them in the pool, unless they must be gathered first, and writes there.
  void reserve(std::size_t chunk_bytes, bool gathers, std::size_t output_bytes);

  /// What these chunks take of the device's memory (bytes).
  std::size_t buffer_bytes() const noexcept;

  /// Allocates it, and what else run() needs. On a thread that is bound to the device. Throws
  /// Error.
  void prepare(const Observe& observe);

  /// Between passes: gives all of it back.
  void release();

  /// Throws Error, Aborted. When it returns or throws, the device no longer touches the pool.
  void run(const Pass& pass);

  /// Of the last run.
  struct Times {
    StageTimes h2d, kernel, d2h;
    std::uint64_t bytes = 0;
    double first_seconds = 0;  // when the operation had returned for the first time
  };
  const Times& times() const noexcept { return times_; }

 private:
  /// Where a chunk is copied to, or its result from.
  struct CopyBuffer {
    std::size_t bytes = 0;  // that the memory is to have
    Buffer memory;
    std::unique_ptr<Event> copy_begun, copied;
    Chunk* chunk = nullptr;
  };

  /// One of two input buffers: while the operation blocks on one, the next chunk comes into the
  /// other. The stream's order alone keeps a copy from overtaking the work on what it overwrites.
  struct Input : CopyBuffer {
    std::unique_ptr<Event> kernel_begun, kernel_ended;
    bool computing = false;  // the kernel's events are recorded and have not been taken in
    TraceEvent kernel;       // its work, but for the times
  };

  /// One of two output buffers: what was computed last comes home while the next is computed.
  using Result = CopyBuffer;

  void consume_in_pool(const Pass& pass);
  std::span<std::byte> consume(const Pass& pass, Chunk& chunk);
  void consume_copies(const Pass& pass);
  Chunk* wait_for_chunk(const Pass& pass, std::size_t index);
  void begin_copy(Input& input, Chunk& chunk);
  void finish_copy(const Pass& pass, Input& input);
  void process(const Pass& pass, Input& input, std::size_t chunk, DeviceSpan<std::byte> data,
               DeviceSpan<std::byte> out);
  void check_launches();
  void take_in_kernel(Input& input);
  void begin_result(const Pass& pass, Result& result, Chunk& chunk, std::size_t bytes);
  void finish_result(const Pass& pass, Result& result);
  TraceEvent work_on(TraceEvent::Kind kind, std::size_t chunk, std::uint64_t bytes) const;

  Device& device_;
  std::size_t index_;
  std::unique_ptr<Stream> stream_;
  std::optional<EventReporter> reporter_;
  std::array<Input, 2> inputs_;
  std::array<Result, 2> results_;
  Times times_;
};

}  // namespace ooc
