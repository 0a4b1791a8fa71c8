#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/engine/queue_tuner.hpp>
#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/io/source.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pass/inline_readers.hpp"
#include "pass/slot_limit.hpp"
#include "sizing/layout.hpp"

namespace ooc {

/// What brings the chunks of a pass into the pool: a thread of its own, or the lanes.
class Loading {
 public:
  /// All references must outlive it.
  Loading(const Options& options, const PassOptions& wanted, const Layout& layout,
          const Source& source, ChunkPool& pool, bool reads_ahead);

  /// The device has started, so the pool needs no more slots than the pass uses at a time.
  void stop_reading_ahead() { limit_.stop_reading_ahead(); }

  /// The reader that fills the pool, or the readers of the lanes; the other is null.
  Reader* reader() noexcept { return reader_ ? &*reader_ : nullptr; }
  InlineReaders* inline_readers() noexcept { return inline_ ? &*inline_ : nullptr; }

  std::uint64_t bytes_done() const noexcept;
  std::size_t in_flight() const noexcept;

  /// How it was done, and where its time went. `stats` has the streams.
  void describe(Stats& stats) const;

  /// How many reads in flight were best, if that was looked for.
  std::optional<std::size_t> best_depth() const;

 private:
  void tune(const Layout& layout, TunedDepth depth);

  const IoConfig& config_;
  TransferReporter reporter_;
  SlotLimit limit_;
  std::optional<QueueTuner> tuner_;
  std::size_t first_depth_ = 0;  // that it would begin with if it knew nothing of the disk
  std::optional<Reader> reader_;
  std::optional<InlineReaders> inline_;
};

}  // namespace ooc
