#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/detail/sizing/io_config.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ooc {

/// How the output of a pass is written.
struct WriteLayout {
  SequentialPlan plan;
  IoConfig config;
  std::size_t place;  // in a slot (bytes): where a result goes
};

/// How many reads in flight a QueueTuner begins with if nothing is known of the disk, and between
/// how many it may choose.
struct TunedDepth {
  std::size_t first, least, most;
};

/// Buffers that a lane needs on its device for the steps of a pass (bytes).
struct LaneBuffers {
  std::size_t step = 0;    // of one input buffer
  std::size_t inputs = 0;  // how many of these
  std::size_t result = 0;  // of each of two output buffers

  std::size_t bytes() const { return inputs * step + 2 * result; }
};

/// Every size of a pass, decided before it starts.
struct Layout {
  SequentialPlan plan;
  std::shared_ptr<const Interleaving> interleaving;  // if a part lies in the page cache
  std::size_t chunk_bytes;      // of a step of the plan; its chunks may be pieces of one
  std::size_t slots;            // in use at first
  std::size_t most_slots;       // in use at most
  std::size_t slots_ahead = 0;  // in use once, before these, while a GPU starts
  std::size_t slot_bytes;
  IoConfig reads;
  std::optional<TunedDepth> tuned_depth;  // if reads.queue_depth is only the first
  bool reads_inline;                      // each its own chunks
  std::size_t lanes;                      // at work
  bool gathers;                           // some chunk is not one aligned piece of memory
  std::optional<double> page_cache_fraction;
  double hole_fraction;
  std::vector<std::string> reasons;
  std::string why_chunk;
  std::string_view why_lanes;
  std::optional<WriteLayout> writes{};
};

/// What elements of a size are aligned to (bytes): the largest power of two that divides it, but no
/// more than any type needs.
constexpr std::size_t alignment_of(std::size_t element_bytes) {
  constexpr std::size_t most = 256;
  return std::min(std::size_t{1} << std::countr_zero(element_bytes), most);
}

/// The facts about a device that sizes depend on.
struct DeviceFacts {
  DeviceFacts(DeviceKind of) noexcept  // as most devices of that kind are
      : kind(of), reads_host_memory(of == DeviceKind::cpu) {}
  explicit DeviceFacts(const Device& device)
      : kind(device.kind()), reads_host_memory(device.reads_host_memory()) {}

  DeviceKind kind;
  bool reads_host_memory;
};

/// The requirements of an operation on the steps.
struct Records {
  std::size_t bytes = 1;          // of an element
  std::size_t partition = 65536;  // elements, a power of two: steps are whole partitions
  bool in_order = false;          // the source is read from beginning to end

  std::size_t partition_bytes() const { return partition * bytes; }
};

/// What the user has fixed is kept, unless the limits leave no room for so many reads in flight, or
/// for so many streams that load their own chunks; the rest is chosen. Throws Error(memory) with
/// the numbers if that does not fit in the limits, Error(usage) if direct reads were asked for and
/// are impossible.
Layout choose_layout(const Options& options, const DeviceFacts& device, Workers workers,
                     const Source& source, const Records& records, const Output* output = nullptr);

/// Begins with so many reads in flight, which have been found to be best, instead of
/// `tuned_depth->first`. Only for a layout that has a `tuned_depth`.
void start_at_depth(Layout& layout, std::size_t depth);

/// Number of chunks in which `depth` reads are in flight.
std::size_t chunks_read(const Layout& layout, std::size_t depth);

/// Gives each of the first chunks a slot of its own, so that a disk need not wait for a GPU that
/// starts. No more memory is taken than is to spare; what is read from the page cache can wait.
void read_ahead(const Options& options, Layout& layout);

/// Slots that the pool is to have.
inline std::size_t all_slots(const Layout& layout) {
  return std::max(layout.most_slots, layout.slots_ahead);
}

/// Buffers of a lane on a GPU: two for inputs, or one if steps come in pieces, and two for results
/// if there is an output.
LaneBuffers gpu_buffers(const Layout& layout);

/// Half the chunk of a layout, or of the source if that is smaller, in whole partitions (bytes). 0
/// if that is not less.
std::size_t half_chunk_bytes(const Layout& layout, const Records& records);

}  // namespace ooc
