#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/pass/operation.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/detail/sizing/facts.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/stats.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ooc::detail {

/// The requirements of an operation on the steps of a pass.
struct StepNeeds {
  std::vector<RecordShape> inputs = std::vector<RecordShape>(1, 1);
  std::vector<std::size_t> decoded{};  // of each input that is decoded, the bytes it has then; or 0
  std::size_t partition = 65536;       // records, a power of two: steps are whole partitions
  Margin margin{};                     // records that are read around those of a step
  HostBytes memory{};                  // of the operation
  bool in_order = false;               // the source is read from beginning to end
  bool appends = false;                // the length of the outputs shows during the pass
  std::size_t groups = 0;              // outputs whose records share one room; 0: each has its own
  bool waits = false;                  // a step waits for the one before
  std::uint64_t records = 0;           // of a pass without inputs
  std::uint64_t resident = 0;          // records, the first ones, that are on the device already
  std::optional<Lending> lending{};
  /// Devices of the host that share the inputs and its memory, of this process and others.
  std::size_t devices = 1;
  bool is_shared = false;          // by devices, which may be on other hosts
  std::shared_ptr<Share> share{};  // the part that this device takes

  /// Sizes of a record, and of the margin, of all inputs together (bytes).
  std::size_t bytes() const;
  std::size_t decoded_bytes() const;
  std::size_t margin_bytes() const { return (margin.before + margin.after) * bytes(); }
};

/// All that sizes depend on in addition to the facts.
struct Wishes {
  Options options{};
  Workers workers{};
  StepNeeds needs{};
  /// The number of reads in flight that was best in an earlier pass.
  std::optional<std::size_t> best_depth{};
};

/// The places of the results of a step (bytes).
struct ResultPlaces {
  std::size_t in_slot = 0;             // where they begin in the slot of their step
  std::vector<std::size_t> outputs{};  // from there, of each output
  std::size_t made = 0;                // from there, of the numbers of records if it appends
  std::size_t bytes = 0;               // of all results
  bool in_pages =
      true;  // appended results lie as far from the beginning of a page as in their file
};

/// Returns the places for results of a plan, whose inputs are the outputs of the pass. With
/// `groups`, its only input stands for so many outputs (see Operation::groups()). `direct`: whole
/// pages are written directly.
ResultPlaces places_of(const SequentialPlan& writes, bool appends, std::size_t in_slot,
                       std::size_t groups = 0, bool direct = true);

/// The layout of the outputs of a pass.
struct WriteLayout {
  SequentialPlan plan;  // of a pass that appends: if all records were kept
  IoConfig config;
  ResultPlaces places;
};

/// The queue depths of a QueueTuner: the one to begin with if nothing is known of the disk, and the
/// least and the most that it may choose.
struct TunedDepth {
  std::size_t first, least, most;
};

/// Buffers that a lane needs for the steps of a pass (bytes).
struct LaneBuffers {
  std::size_t step = 0;    // of one input buffer, which has the records of all inputs
  std::size_t inputs = 0;  // number of input buffers
  std::size_t result = 0;  // of each of two output buffers
  /// For the structs of a step that is decoded. One is enough: the next step is decoded on the same
  /// stream, after the operator's work on this one.
  std::size_t decoded = 0;

  std::size_t bytes() const { return inputs * step + 2 * result + decoded; }
};

/// All sizes of a pass, decided before it starts.
struct Layout {
  SequentialPlan plan;
  std::shared_ptr<const ChunkOrder> order;  // of the plan; null: that of the source
  std::size_t record_bytes;                 // of all inputs or, without any, outputs
  std::size_t chunk_bytes;  // of a step, in such records; a slot may hold a piece of one
  std::size_t slot_bytes;
  std::size_t lanes;
  std::size_t slots;        // in use at first
  std::size_t most_slots;   // in use at most
  std::size_t slots_ahead;  // in use before these, while a GPU starts; or 0
  IoConfig reads;
  std::optional<TunedDepth> tuned_depth;  // if reads.queue_depth may change
  bool reads_inline;                      // lanes load their own chunks
  bool gathers;                           // some chunk is not one aligned piece of memory
  LaneBuffers buffers;                    // of a lane
  std::vector<Reason> reasons;
  Reason why_chunk;
  ReasonKind why_lanes;
  std::optional<WriteLayout> writes;

  /// True if cached parts of the source and the rest are read by turns.
  bool reads_by_turns() const { return order && order->is_by_turns(); }

  /// Slots of the pool.
  std::size_t all_slots() const { return std::max(most_slots, slots_ahead); }

  /// Bytes of all lanes' buffers.
  std::size_t buffer_bytes() const { return lanes * buffers.bytes(); }
};

/// Returns where the records of an input begin in a buffer for a step, aligned for any type; for
/// the number of inputs, the size of the buffer (bytes).
std::size_t place_in_step(const SequentialPlan& plan, std::size_t input);

/// The same in the buffer for decoded structs. `decoded`: see StepNeeds.
std::size_t decoded_place(const SequentialPlan& plan, std::span<const std::size_t> decoded,
                          std::size_t input);

/// Chooses all sizes of a pass. Keeps what the user has fixed, unless the limits leave no room for
/// so many reads in flight, or for so many streams that load their own chunks. Depends on nothing
/// but its arguments. Throws Error(memory) with the numbers if the pass does not fit in the limits,
/// Error(usage) if direct reads were asked for and are impossible.
Layout choose_layout(const Facts& facts, const Wishes& wishes);

/// Number of chunks in which `depth` reads are in flight.
std::size_t chunks_read(const Layout& layout, std::size_t depth);

/// Half the chunk of a layout, or of the source if that is smaller, in whole partitions (bytes). 0
/// if that is not less.
std::size_t half_chunk_bytes(const Layout& layout, const StepNeeds& needs);

}  // namespace ooc::detail
