#pragma once

#include <ooc/io/plan.hpp>
#include <ooc/io/source.hpp>
#include <ooc/io/target.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/simulation/troubles.hpp"
#include "support/random.hpp"
#include "support/temp_dir.hpp"

namespace ooc::test {

/// A small pass, and what goes wrong in it. All follows from the seed, but the order in which its
/// threads run.
struct Scenario {
  explicit Scenario(std::uint64_t seed);

  std::uint64_t seed;
  std::vector<Extent> extents{};
  bool on_gpu, writes, lanes_read;  // a GPU; a map; lanes load their own chunks
  bool takes_any;                   // whichever is next
  bool direct, swapped, observed, checksummed;
  bool resizes, tuned;  // the pool changes at any time, or as a QueueTuner wants
  bool reads_ahead;     // the first chunks have a slot each
  std::size_t reach;    // of lanes in the pool, or 0
  std::size_t element_bytes, output_element_bytes;
  std::size_t chunk_bytes, block_bytes;
  std::size_t lanes, slots, read_depth, write_depth;
  std::size_t first_depth, least_depth;  // of a tuner; read_depth is the most
  std::size_t first_slots;               // in use at first, or after those that are read ahead
  std::vector<bool> cached{};            // each chunk, if they are interleaved
  std::vector<Trouble> troubles{};

  SequentialPlan plan() const;
  SequentialPlan output_plan() const;
  std::uint64_t output_bytes(std::uint64_t input_bytes) const;  // none of a fold
  bool gathers() const;  // some chunk is not one aligned piece of memory
  std::string describe() const;

 private:
  void choose_slots(Random& random);
  void choose_tuning(Random& random);
};

/// The files that all scenarios read, and the one that they would write: no engine but the lanes'
/// own touches them.
struct World {
  World();

  /// The bytes of a scenario's source.
  std::vector<std::byte> input_of(const Scenario& scenario) const;

  /// What a fold is to see, or a map to write.
  std::vector<std::byte> result_of(const Scenario& scenario) const;

  TempDir dir;
  std::vector<std::vector<std::byte>> contents;  // of each file, and some bytes more
  Source source;
  TargetFile target;
};

}  // namespace ooc::test
