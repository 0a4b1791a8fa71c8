#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/engine/queue_tuner.hpp>
#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/io/file.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pass/inline_readers.hpp"
#include "pass/slot_limit.hpp"
#include "sizing/layout.hpp"

namespace ooc {

/// Loads the chunks of a pass: either one reader thread fills the pool, or the lanes load their own
/// steps.
class Loading {
 public:
  /// `files`: those of all inputs. All references must outlive this object.
  Loading(const Options& options, const PassOptions& wanted, const Layout& layout,
          const std::vector<const File*>& files, ChunkPool& pool, bool reads_ahead);

  /// Called when the device has started: the pool needs no more slots than the pass uses at a time.
  void stop_reading_ahead() { limit_.stop_reading_ahead(); }

  /// Return the reader that fills the pool and the readers of the lanes; one of them is null.
  Reader* reader() noexcept { return reader_ ? &*reader_ : nullptr; }
  InlineReaders* inline_readers() noexcept { return inline_ ? &*inline_ : nullptr; }

  std::uint64_t bytes_done() const noexcept;
  std::size_t in_flight() const noexcept;

  /// Adds to `stats` how the chunks were loaded and how long that took. `stats.streams` must be
  /// set.
  void describe(Stats& stats) const;

  /// Returns the best number of reads in flight; nothing if it was not tuned.
  std::optional<std::size_t> best_depth() const;

 private:
  void tune(const Layout& layout, TunedDepth depth);

  const IoConfig& config_;
  TransferReporter reporter_;
  SlotLimit limit_;
  std::optional<QueueTuner> tuner_;
  std::size_t first_depth_ = 0;  // with which a pass begins if nothing is known of the disk
  std::optional<Reader> reader_;
  std::optional<InlineReaders> inline_;
};

}  // namespace ooc
