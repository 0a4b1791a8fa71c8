#pragma once

#include <ooc/io/plan.hpp>
#include <ooc/io/source.hpp>
#include <ooc/io/target.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/temp_dir.hpp"

namespace ooc::test {

/// Every place of a pass where something can go wrong.
enum class Place {
  begin,  // of the operator
  process,
  processed,
  end,
  read_begun,  // the observers
  read_completed,
  write_begun,
  write_completed,
  activity,
  report,
  read_start,  // the engines
  read_wait,
  read_answer,
  write_start,
  write_wait,
  write_answer,
  device,  // whatever it is asked for
};

constexpr std::size_t places = static_cast<std::size_t>(Place::device) + 1;

/// What happens when a pass comes to a place for the `nth` time: it fails, or is asked to stop.
struct Trouble {
  Place place;
  std::size_t nth;
  bool stops;
};

/// A small pass, and what goes wrong in it. All follows from the seed, but the order in which its
/// threads run.
struct Scenario {
  explicit Scenario(std::uint64_t seed);

  std::uint64_t seed;
  std::vector<Extent> extents{};
  bool on_gpu, writes, lanes_read;  // a GPU; a map; lanes load their own chunks
  bool direct, swapped, observed, resizes;
  std::size_t element_bytes, output_element_bytes;
  std::size_t chunk_bytes, block_bytes;
  std::size_t lanes, slots, read_depth, write_depth;
  std::vector<bool> cached{};  // each chunk, if they are interleaved
  std::vector<Trouble> troubles{};

  SequentialPlan plan() const;
  SequentialPlan output_plan() const;
  std::uint64_t output_bytes(std::uint64_t input_bytes) const;  // none of a fold
  bool gathers() const;  // some chunk is not one aligned piece of memory
  std::string describe() const;
};

/// The files that all scenarios read, and the one that they would write: no engine but the lanes'
/// own touches them.
struct World {
  World();

  /// What a fold is to see, or a map to write.
  std::vector<std::byte> result_of(const Scenario& scenario) const;

  TempDir dir;
  std::vector<std::vector<std::byte>> contents;  // of each file, and some bytes more
  Source source;
  TargetFile target;
};

/// How a simulation went.
struct Outcome {
  bool failed = false, stopped = false;  // of the pass with the troubles
  std::size_t resizes = 0;
  std::string complaint{};  // which rule was broken; empty: none
};

/// Runs a scenario and, if it did not come through, the same pass without trouble, and checks that
///
/// - a pass that succeeds has given every byte of the source to the operator, once, in its place,
///   and written every byte of the result, once; one that was stopped, those of a prefix of whole
///   chunks; one that fails, none twice and none that is wrong;
/// - it fails if and only if something has failed in it, with the first of these errors;
/// - a slot has one owner at a time;
/// - no request is left in flight, and no work of the device.
Outcome simulate(World& world, const Scenario& scenario);

}  // namespace ooc::test
