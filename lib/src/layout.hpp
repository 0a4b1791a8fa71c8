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
};

/// Every size of a pass, decided before it starts.
struct Layout {
  Plan plan;
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
};

Workers choose_workers(const Options& options, DeviceKind device);

/// What the user has fixed is kept; the rest is chosen. Throws Error(memory) with the numbers if
/// that does not fit in the limits, Error(usage) if direct reads were asked for and are impossible.
Layout choose_layout(const Options& options, DeviceKind device, Workers workers,
                     const Source& source, std::size_t element_bytes);

}  // namespace ooc
