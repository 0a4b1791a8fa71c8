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

/// Every size of a pass, decided before it starts.
struct Layout {
  SequentialPlan plan;
  std::shared_ptr<const Interleaving> interleaving;  // if a part lies in the page cache
  std::size_t chunk_bytes;
  std::size_t slots;            // in use at first
  std::size_t pool_slots;       // in use at most
  std::size_t ahead_slots = 0;  // in use once, before these, while a GPU starts
  std::size_t slot_bytes;
  IoConfig reads;
  std::optional<TunedDepth> tuned_depth;  // if reads.queue_depth is only the first
  bool lanes_read;                        // each its own chunks
  std::size_t lanes;                      // at work
  bool gathers;                           // some chunk is not one aligned piece of memory
  std::optional<double> page_cache_fraction;
  double hole_fraction;
  std::vector<std::string> reasons;
  std::string_view why_chunk, why_lanes;
  std::optional<WriteLayout> writes{};
};

/// What elements of a size are aligned to (bytes): the largest power of two that divides it, but no
/// more than any type needs.
constexpr std::size_t alignment_of(std::size_t element_bytes) {
  constexpr std::size_t most = 256;
  return std::min(std::size_t{1} << std::countr_zero(element_bytes), most);
}

/// `in_order`: the source is to be read from beginning to end, wherever its parts lie. A single
/// thread of the CPU reads what it folds, wherever that lies.
///
/// What the user has fixed is kept, unless the limits leave no room for so many reads in flight, or
/// for so many streams that load their own chunks; the rest is chosen. Throws Error(memory) with
/// the numbers if that does not fit in the limits, Error(usage) if direct reads were asked for and
/// are impossible.
Layout choose_layout(const Options& options, DeviceKind device, Workers workers,
                     const Source& source, std::size_t element_bytes,
                     const Output* output = nullptr, bool in_order = false);

/// Begins with so many reads in flight, which have been found to be best, instead of
/// `tuned_depth->first`. Only for a layout that has a `tuned_depth`.
void begin_with_depth(Layout& layout, std::size_t depth);

/// Number of chunks in which `depth` reads are in flight.
std::size_t chunks_read(const Layout& layout, std::size_t depth);

/// Gives each of the first chunks a slot of its own, so that a disk need not wait for a GPU that
/// starts. No more memory is taken than is to spare; what is read from the page cache can wait.
void read_ahead(const Options& options, Layout& layout);

/// Slots that the pool is to have.
inline std::size_t all_slots(const Layout& layout) {
  return std::max(layout.pool_slots, layout.ahead_slots);
}

/// What the buffers of a stream take on a GPU (bytes): two for chunks that come, and two for what
/// is made of them if that is written.
std::size_t buffer_bytes(const Layout& layout);

/// Half the chunk of a layout, or of the source if that is smaller, in whole tiles (bytes). 0 if
/// that is not less.
std::size_t half_chunk_bytes(const Layout& layout, std::size_t element_bytes);

}  // namespace ooc
