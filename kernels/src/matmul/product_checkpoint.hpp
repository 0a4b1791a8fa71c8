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
/// elements of C, in the order in which tiles of all blocks are written. Of several ranks, each has
/// a file; the blocks of others are in it as they were when the job began. Ranks agree by it on the
/// job and its output also without a Checkpoint.
///
/// Threads: those that multiply may call begun(), start() and note() at the same time.
class ProductCheckpoint {
 public:
  /// The work of an earlier run on a block.
  struct Begun {
    Tiling tiling{};
    std::uint64_t tiles = 0;
  };

  /// Reads the files if they are there. `ranks`: all, or null. Ranks other than 0 wait until rank 0
  /// calls begin(). Throws Error as CheckpointFile, and `bad_input` if they are not of this
  /// product.
  ProductCheckpoint(const Checkpoint& wanted, Ranks* ranks, const Source& a, const Source& b,
                    const Target& target, Precision precision);

  /// Returns the output as the files know it.
  std::span<const SavedOutput> outputs() const noexcept { return file_.outputs(); }

  /// Begins with a grid or, if there is one, with that of an earlier run. Saves what that has done,
  /// and keeps the output from now on. Then all ranks know it. All must outlive this object. Throws
  /// Error(output).
  void begin(Grid grid, OutputFiles& files, Stats& stats);

  const Grid& grid() const noexcept { return grid_; }

  /// Returns the part of C that is written.
  double part_done() const;

  /// Returns what an earlier run has done of a block.
  std::optional<Begun> begun(std::size_t block) const;

  /// Sets the schedule of a block, of which nothing more is done.
  void start(std::size_t block, const Schedule& schedule);

  /// Notes that so many tiles of that schedule are written, and saves if it is time to: makes the
  /// output durable first. Throws Error(output) for the output, and saves no more after that, since
  /// the next attempt would succeed although bytes are lost. If the file cannot be written, the
  /// statistics have a remark.
  void note(std::size_t block, std::uint64_t tiles);

  /// Saves what was noted.
  void save();

  /// Makes the part of the output that other ranks than 0 have written durable, waits until all
  /// ranks have done so, and calls `meanwhile` again and again. Throws Error(internal) if they have
  /// not computed all of C.
  void meet(const std::function<void()>& meanwhile);

  /// Saves that all blocks are whole, when they are.
  void save_whole();

  /// Returns the error for a product that was stopped, and one that says what is kept. They are
  /// `error` itself without a Checkpoint.
  Error interrupted(const Error& error) const;
  Error with_kept_files(const Error& error) const;

 private:
  using Clock = std::chrono::steady_clock;

  /// A block, and what is done of it: nothing while its tiling has no tiles.
  struct Block {
    Region region{};
    Tiling tiling{};
    std::uint64_t first_tiles = 0;  // before its schedule
    std::uint64_t tiles = 0;        // that are written
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

  mutable std::mutex mutex_;  // of all below
  std::vector<Block> blocks_{};
  bool has_more_ = false;  // than was saved
  bool is_lost_ = false;   // the output could not be made durable
  int saved_percent_ = 0;  // of C
  Clock::time_point saved_at_ = Clock::now();
  std::string why_not_saved_{};  // empty: the last time succeeded
};

}  // namespace ooc::detail::product
