#pragma once

#include <ooc/detail/pool/plan.hpp>
#include <ooc/detail/sizing/facts.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/operation.hpp>
#include <ooc/options.hpp>
#include <ooc/pass_input.hpp>
#include <ooc/reason.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ooc {

/// The requirements of an operation on the steps of a pass.
struct StepNeeds {
  std::vector<RecordShape> inputs = std::vector<RecordShape>(1, 1);
  std::size_t partition = 65536;  // records, a power of two: steps are whole partitions
  Margin margin{};                // records that are read around those of a step
  bool in_order = false;          // the source is read from beginning to end

  /// Of all inputs.
  std::size_t bytes() const;
  std::size_t partition_bytes() const { return partition * bytes(); }
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

/// The layout of the output of a pass.
struct WriteLayout {
  SequentialPlan plan;
  IoConfig config;
  std::size_t place;  // of the result in its slot (bytes)
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

  std::size_t bytes() const { return inputs * step + 2 * result; }
};

/// All sizes of a pass, decided before it starts.
struct Layout {
  SequentialPlan plan;
  std::shared_ptr<const Interleaving> interleaving;  // of a source that is cached in part
  std::size_t chunk_bytes;                           // of a step; a slot may hold a piece of one
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
  Choice why_lanes;
  std::optional<WriteLayout> writes;

  /// Slots of the pool.
  std::size_t all_slots() const { return std::max(most_slots, slots_ahead); }

  /// Bytes of all lanes' buffers.
  std::size_t buffer_bytes() const { return lanes * buffers.bytes(); }
};

/// Returns where the records of an input begin in a buffer for a step, aligned for any type; for
/// the number of inputs, the size of the buffer (bytes).
std::size_t place_in_step(const SequentialPlan& plan, std::size_t input);

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

}  // namespace ooc
