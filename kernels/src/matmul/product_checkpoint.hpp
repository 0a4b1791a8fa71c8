#pragma once

#include "matmul/plan/grid.hpp"
#include "matmul/plan/schedule.hpp"

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/operators/outputs.hpp>
#include <ooc/detail/parts/checkpoint_file.hpp>
#include <ooc/matmul.hpp>
#include <ooc/ranks.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ooc::detail::product {

/// The checkpoint of a product (see Checkpoint): the grid of blocks and, for each block, its tiling
/// and how many of its tiles are in the file of C, in the order of the schedule. Records are
/// elements of C, in the order in which tiles of all blocks are written. Each of several ranks has
/// its own file, which has the state of other ranks' blocks from when the job began. Ranks also use
/// this class without a Checkpoint, to agree on the job and its output.
///
/// Threads: those that multiply may call begun(), start() and note() concurrently.
class ProductCheckpoint {
 public:
  /// The progress of an earlier run on a block.
  struct Begun {
    Tiling tiling{};
    std::uint64_t tiles = 0;
  };

  /// Reads the files if they exist. `ranks`: all ranks, or null. Ranks other than 0 wait until rank
  /// 0 calls begin(). Throws Error as CheckpointFile does, and `bad_input` if a file belongs to
  /// another product.
  ProductCheckpoint(const Checkpoint& wanted, Ranks* ranks, const Source& a, const Source& b,
                    const Target& target, Precision precision);

  /// Returns the outputs that the files name.
  std::span<const SavedOutput> outputs() const noexcept { return file_.outputs(); }

  /// Begins with the grid of an earlier run or, without one, with `grid`. Saves the earlier
  /// progress, keeps the output file from now on, and tells all ranks. All arguments must outlive
  /// this object. Throws Error(output).
  void begin(Grid grid, OutputFiles& files, Stats& stats);

  const Grid& grid() const noexcept { return grid_; }

  /// Returns the fraction of C that is written, from 0 to 1.
  double part_done() const;

  /// Returns the progress of an earlier run on a block. Empty if it has written none of its tiles.
  std::optional<Begun> begun(std::size_t block) const;

  /// Sets the schedule of a block. No tile of this schedule is done yet.
  void start(std::size_t block, const Schedule& schedule);

  /// Notes that so many tiles of that schedule are written. If a save is due, makes the output
  /// durable and saves. Throws Error(output) if the output cannot be made durable, and does not
  /// save again: another attempt would succeed although data are lost. If the checkpoint's file
  /// cannot be written, adds a remark to the statistics.
  void note(std::size_t block, std::uint64_t tiles);

  /// Saves the noted progress.
  void save();

  /// Makes the output of this rank durable unless it is rank 0, and waits until all ranks have done
  /// so. Calls `meanwhile` repeatedly while it waits. Throws Error(internal) if the ranks have not
  /// computed all of C.
  void meet(const std::function<void()>& meanwhile);

  /// Saves that all of C is written. Call it when that is so.
  void save_whole();

  /// Return the error for a stopped product, and an error that also tells what is kept. Without a
  /// Checkpoint, both return `error` unchanged.
  Error interrupted(const Error& error) const;
  Error with_kept_files(const Error& error) const;

 private:
  using Clock = std::chrono::steady_clock;

  /// A block and its progress. `tiling` is not set while `tiles` is 0.
  struct Block {
    Region region{};
    Tiling tiling{};
    std::uint64_t first_tiles = 0;  // done before its schedule began
    std::uint64_t tiles = 0;        // done in all
  };

  Problem problem_of(const Region& region) const;
  std::uint64_t elements() const;
  void set_grid(Grid grid);
  void take(std::span<const std::byte> part);
  Grid take_grid(ByteReader& in) const;
  std::vector<std::byte> part() const;
  PartFile found() const;
  void save_now();
  void beside(const std::function<void()>& work) const;
  std::string kept() const;

  Checkpoint wanted_;
  Ranks* ranks_;
  CheckpointFile file_;
  std::uint64_t rows_, columns_, inner_;
  Grid grid_{};
  OutputFiles* files_ = nullptr;
  Stats* stats_ = nullptr;

  mutable std::mutex mutex_;  // guards the members below
  std::vector<Block> blocks_{};
  bool has_more_ = false;  // there is progress that was not saved
  bool is_lost_ = false;   // the output could not be made durable
  int saved_percent_ = 0;  // of C
  Clock::time_point saved_at_ = Clock::now();
  std::string why_not_saved_{};  // empty if the last save succeeded
};

}  // namespace ooc::detail::product
