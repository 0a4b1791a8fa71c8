#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/detail/engine/queue_tuner.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/detail/transfer/producer_reader.hpp>
#include <ooc/detail/transfer/reader.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pass/inline_readers.hpp"
#include "pass/slot_limit.hpp"
#include "sizing/layout.hpp"

namespace ooc::detail {

/// Loads the chunks of a pass: a reader thread fills the pool from files or from a producer, or the
/// lanes load their own steps.
class Loading {
 public:
  /// All references must outlive this object.
  Loading(const Options& options, const PassOptions& wanted, const Layout& layout,
          std::span<const PassInput> inputs, ChunkPool& pool, bool reads_ahead);

  /// Called when the device has started: the pool needs no more slots than the pass uses at a time.
  void stop_reading_ahead() { limit_.stop_reading_ahead(); }

  /// Return the readers that fill the pool and the readers of the lanes; all but one are null.
  Reader* reader() noexcept { return reader_ ? &*reader_ : nullptr; }
  ProducerReader* producer() noexcept { return producer_ ? &*producer_ : nullptr; }
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

  EncodedArray::Work decoding() const noexcept;

  const IoConfig& config_;
  std::vector<const EncodedArray*> encoded_;  // among the inputs, each once
  EncodedArray::Work before_;                 // of these arrays
  TransferReporter reporter_;
  SlotLimit limit_;
  std::optional<QueueTuner> tuner_;
  std::size_t first_depth_ = 0;  // with which a pass begins if nothing is known of the disk
  std::optional<Reader> reader_;
  std::optional<ProducerReader> producer_;
  std::optional<InlineReaders> inline_;
};

}  // namespace ooc::detail
