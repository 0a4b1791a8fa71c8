#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/io/plan.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ooc {

/// How many work at once.
struct Workers {
  std::size_t lanes;    // streams
  std::size_t readers;  // threads of the threads engine
  std::size_t writers;  // of another one, if a pass writes through the page cache
};

/// How the output of a pass is written.
struct WriteLayout {
  SequentialPlan plan;
  std::size_t chunk_bytes;
  std::size_t place;  // in a slot (bytes): where a result goes
  std::size_t block_bytes;
  std::size_t queue_depth;
  EngineKind engine;
  bool direct;
};

/// Every size of a pass, decided before it starts.
struct Layout {
  SequentialPlan plan;
  std::size_t chunk_bytes;
  std::size_t slots;
  std::size_t slot_bytes;
  std::size_t block_bytes;
  std::size_t queue_depth;
  EngineKind engine;
  bool direct;
  bool gathers;  // some chunk is not one aligned piece of memory
  std::optional<double> page_cache_fraction;
  std::vector<std::string> reasons;
  std::optional<WriteLayout> writes{};
};

Workers choose_workers(const Options& options, DeviceKind device);

/// What the user has fixed is kept; the rest is chosen. Throws Error(memory) with the numbers if
/// that does not fit in the limits, Error(usage) if direct reads were asked for and are impossible.
Layout choose_layout(const Options& options, DeviceKind device, Workers workers,
                     const Source& source, std::size_t element_bytes,
                     const Output* output = nullptr);

}  // namespace ooc
