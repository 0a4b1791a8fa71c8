#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/pool/share.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/detail/transfer/writer.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "observe/stopwatch.hpp"
#include "pass/lane.hpp"
#include "pass/pass_parts.hpp"
#include "sizing/layout.hpp"

namespace ooc::detail {

class Loading;

/// A pass as it was asked for. All references outlive it.
struct PassJob {
  std::span<const PassInput> inputs;
  Operation& operation;
  const PassOptions& wanted;
  std::span<const Output> outputs;
  /// Binds the thread that runs the pass to the device: it waits until that has started.
  std::function<void()> bind_thread;
};

/// A device of a coordinator, with its lanes and its pool, which stay from pass to pass.
class Station {
 public:
  /// `options`: see bounded(). `lanes_before`: of other stations, since the operations of a pass
  /// count the lanes of all together.
  Station(std::unique_ptr<Device> device, Options options, std::size_t lanes_before);

  Device& device() const noexcept { return *device_; }
  const Workers& workers() const noexcept { return workers_; }

  /// The most lanes that a pass may use.
  std::size_t most_lanes() const noexcept { return all_lanes_.size(); }

  /// Frees the pool and the lanes' buffers. Between passes only.
  void release();

  /// Sets the limit of memory on the host, and frees what the station has there if it was another
  /// one. Between passes only.
  void set_memory_limit(std::size_t bytes);

  /// Return the facts and wishes on which the sizes of a pass here depend. Throw as run_pass().
  Facts measure(const PassJob& job) const;
  Wishes wishes(const PassJob& job) const;

  /// Runs a pass on this station alone.
  Stats run(const PassJob& job);

  /// Runs a pass, or the share of one that `wishes` names; then the operation has been prepared for
  /// the lanes of all stations. `watch` runs since the beginning of the pass.
  Stats run(const PassJob& job, Facts facts, Wishes wishes, const Stopwatch& watch);

  /// The time from the beginning of the last pass to the end of its last step here (seconds).
  double last_seconds() const;

 private:
  Stats attempt(const PassJob& job, const Facts& facts, const Layout& layout, bool is_shared,
                const Stopwatch& watch);
  void reserve(const Layout& layout, std::size_t outputs);
  void prepare_lanes(const PassJob& job, std::size_t buffer_bytes, ResidentMemory* resident);
  void run_threads(const PassJob& job, const PassParts& parts, const Layout& layout, bool is_shared,
                   Loading& loading, Writer* writer);
  void describe_lanes(Stats& stats) const;
  void describe_end(const PassParts& parts, std::span<const PassInput> inputs, const Layout& layout,
                    Loading& loading, Stats& stats);

  // The order matters: lanes and pool give their memory back to the device.
  std::unique_ptr<Device> device_;
  Options options_;
  std::size_t lanes_before_;
  Workers workers_;
  std::optional<std::size_t> best_depth_{};  // of a pass before, which may have read the same disk
  std::size_t pool_segments_ = 0;
  std::unique_ptr<ChunkPool> pool_;
  std::vector<std::unique_ptr<Lane>> all_lanes_;
  std::span<const std::unique_ptr<Lane>> lanes_{};  // of the pass that runs
  bool reads_ahead_ = false;   // the pass that runs has a slot for each of its first chunks
  double device_seconds_ = 0;  // that the device has taken to start, of the pass that runs
};

}  // namespace ooc::detail
