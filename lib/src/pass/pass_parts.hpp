#pragma once

#include <ooc/detail/pass/operation.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/detail/pool/tickets.hpp>
#include <ooc/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "observe/stopwatch.hpp"
#include "pass/stored_records.hpp"
#include "sizing/layout.hpp"

namespace ooc::detail {

class Appender;
class Checksum;
class InlineReaders;
class ResidentMemory;

/// State that the lanes of a pass share.
struct PassParts {
  const SequentialPlan& plan;
  ChunkPool& pool;
  Tickets& tickets;        // the steps of the plan
  InlineReaders* readers;  // of the lanes; null: a Reader fills the pool
  Operation& operation;
  Checksum* checksum;  // null: none is computed
  std::vector<StoredRecords> inputs;
  const Stopwatch& watch;
  const Observe& observe;
  std::span<const Output> outputs;
  ResultPlaces places;       // of the outputs
  Appender* appender;        // null: the places of results in the outputs are known before the pass
  bool is_produced = false;  // the last chunk may have fewer records than the plan says
  ResidentMemory* resident = nullptr;  // of the inputs: holds data, or is to be filled
  std::uint64_t records_before = 0;    // in the sources of which the inputs are sections
  std::size_t lanes_before = 0;        // of other devices, in the count of all lanes

  bool writes() const { return !outputs.empty(); }

  /// Sets where each input of a step has its place in the memory that keeps the inputs on the
  /// device. Returns false if the step has none there.
  bool resident_places(std::size_t step, std::span<std::byte*> found) const;

  /// True if the pass leaves the inputs on the device.
  bool fills_resident() const { return resident != nullptr && plan.resident_records() == 0; }

  /// Bytes of the inputs that the pass has used where they are on the device.
  std::uint64_t resident_bytes() const;

  /// The records of a step whose only chunk is loaded.
  RecordRange records_in(const Chunk& chunk) const {
    RecordRange records = plan.chunk_read(chunk.index);
    if (is_produced) records.count = chunk.segments.front().size() / plan.record_bytes(0);
    return records;
  }

  /// Number of chunks of the pass. After a stop request there are fewer.
  std::size_t end_of_chunks() const { return plan.first_piece(tickets.end()); }
};

/// Returns the memory that keeps the inputs of a pass on the device, if the pass finds data there
/// or leaves them there; else null.
ResidentMemory* resident_memory_for(std::span<const PassInput> inputs, const Operation& operation,
                                    const Layout& layout);

}  // namespace ooc::detail
