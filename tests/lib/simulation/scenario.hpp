#pragma once

#include <ooc/detail/engine/queue_tuner.hpp>
#include <ooc/detail/pass/operation.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/source.hpp>
#include <ooc/target.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/simulation/troubles.hpp"
#include "support/random.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail::test {

/// A small pass and its troubles. Everything but the order in which its threads run follows from
/// the seed.
struct Scenario {
  explicit Scenario(std::uint64_t seed);

  std::uint64_t seed;
  std::vector<Extent> extents{};
  bool on_gpu, writes, reads_inline;  // on a GPU; a map; lanes load their own chunks
  bool selects;                       // a map that keeps some records of each step
  bool direct, swapped, observed, checksummed;
  bool resizes, tuned;                 // the pool is resized at random, or by a QueueTuner
  bool reads_ahead;                    // each of the first chunks has its own slot
  std::vector<RecordShape> records{};  // of each input, which have the same extents in number
  std::size_t output_element_bytes;
  std::size_t chunk_records, block_bytes;
  Margin margin{};
  std::size_t lanes, slots, read_depth, write_depth;
  std::size_t first_depth, least_depth;  // of a tuner; read_depth is the most
  std::size_t first_slots;               // in use at first, or after the chunks that are read ahead
  std::size_t pieces;                    // chunks of a step, copied one after another
  std::vector<bool> cached{};            // for each chunk, if the plan is interleaved
  std::vector<Trouble> troubles{};
  std::size_t block_steps = 0;  // of a block, if other devices take some of the data; or 0

  /// The plan of all the data, or of a share of them.
  SequentialPlan plan(std::shared_ptr<Share> share = nullptr) const;
  bool is_shared() const { return block_steps != 0; }
  std::uint64_t block_records() const { return block_steps * pieces * chunk_records; }
  std::shared_ptr<Share> share_of(Blocks& blocks) const;
  std::size_t input_slot_bytes() const;
  SequentialPlan output_plan(std::shared_ptr<Share> share = nullptr) const;
  std::size_t record_bytes() const;                    // of all inputs
  std::size_t swapped_bytes(std::size_t input) const;  // 0: as it is stored
  std::size_t chunk_bytes() const { return chunk_records * record_bytes(); }
  std::uint64_t output_bytes(std::uint64_t of_records) const;  // 0 for a fold
  std::uint64_t made(std::size_t step) const;  // records of the output, the first ones of a step
  /// The bytes of each step in what a fold sees or a map writes.
  std::vector<RecordRange> result_ranges() const;
  /// A tuner for tiny requests, so that one of its windows takes few of them: a simulated pass has
  /// few.
  QueueTuner tuner() const;
  bool gathers() const;  // some chunk is not one aligned piece of memory
  std::string describe() const;

 private:
  void choose_slots(Random& random);
  void choose_tuning(Random& random);
};

/// The files that all scenarios read, and the file that they would write. Only lanes that load
/// their own chunks access them; the simulated engines read `contents` and write to a Ledger.
struct World {
  World();

  /// Returns the bytes of an input of a scenario, as they are stored.
  std::vector<std::byte> input_of(const Scenario& scenario, std::size_t input) const;

  /// Returns the bytes that an operation must see of an input.
  std::vector<std::byte> seen_of(const Scenario& scenario, std::size_t input) const;

  /// Returns the checksum of the first records of the first input.
  std::string checksum_of(const Scenario& scenario, std::size_t records) const;

  /// Returns the bytes that a fold must have seen, record by record with those of all inputs side
  /// by side, or that a map must write.
  std::vector<std::byte> result_of(const Scenario& scenario) const;

  TempDir dir;
  std::vector<std::vector<std::byte>> contents;  // of each file, and more, up to a whole page
  Source source;
  TargetFile target;
};

}  // namespace ooc::detail::test
