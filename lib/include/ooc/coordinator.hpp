#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/detail/base/version.hpp>
#include <ooc/device.hpp>
#include <ooc/source.hpp>
#include <ooc/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

namespace ooc {

class Coordinator;
class Ranks;

namespace detail {
struct CoordinatorState;
class Engine;
struct EngineOptions;
OOC_API CoordinatorState& state_of(const Coordinator& coordinator) noexcept;
}  // namespace detail

/// A version of libooc. Programs work with a library whose `major` and `minor` are those of the
/// headers that they were compiled with.
struct Version {
  int major;  ///< raised for changes after which programs must be changed
  int minor;  ///< raised for additions; before 1.0 for such changes, too
  int patch;  ///< raised for corrections
};

/// Returns the version of the library that the program runs with.
[[nodiscard]] OOC_API Version version() noexcept;

/// A file from which a job resumes after it was stopped or killed. If the file exists, the job
/// continues from its contents; it must be the same job, on the same data. The file is written when
/// the job begins, from time to time, when it is stopped, and when it is complete. It appears
/// complete or not at all. It is not removed, so that the caller can do so when the result is safe.
/// Concurrent jobs need separate files.
///
/// Folds, maps, filters and scans support checkpoints. A job that writes keeps its output beside
/// the target until it is complete, as `.NAME.XXXXXXXX.ooc-part`, and makes it durable before the
/// checkpoint refers to it. A job that has moved all outputs into place finds them there.
///
///     // The second run begins where the first was killed.
///     const auto [sum, stats] =
///         ooc::fold(coordinator, Sum{}, prices, {.checkpoint = {.file = "sum.ckpt"}});
///     std::cout << sum << std::endl;
///     std::filesystem::remove("sum.ckpt");
struct Checkpoint {
  std::filesystem::path file{};  ///< the file, in the format of a PartFile; empty: there is none
  double every_seconds = 30;     ///< time from one save to the next; 0: after each partition

  /// True if there is a file.
  explicit operator bool() const noexcept { return !file.empty(); }
};

/// Limits and settings of a coordinator. Zero means that the library chooses a value for the device
/// and the source. Options of a single pass are PassOptions.
///
///     ooc::Coordinator coordinator(ooc::best_device(), {.chunk_bytes = 8 << 20, .streams = 2});
struct Options {
  std::size_t chunk_bytes = 0;                ///< size of a chunk; rounded up to whole partitions
  std::size_t streams = 0;                    ///< lanes, each with a stream, a thread and buffers
  std::size_t threads = 0;                    ///< all threads that read or compute
  std::size_t block_bytes = 0;                ///< size of one read request
  std::size_t queue_depth = 0;                ///< maximum number of reads in flight
  std::size_t memory_bytes = 0;               ///< limit for host buffers
  std::size_t device_bytes = 0;               ///< limit for allocations on a GPU
  EngineKind engine = EngineKind::automatic;  ///< how local files are read and written
  DirectIo direct = DirectIo::automatic;      ///< whether reads bypass the page cache

  /// The processes that share folds, maps and products, or null. They must outlive the
  /// coordinator.
  Ranks* ranks = nullptr;

  /// For tests and measurements of the library itself: replaces the engine.
  std::function<std::unique_ptr<detail::Engine>(const detail::EngineOptions&)> make_engine{};
};

/// The progress of a pass.
struct Progress {
  std::uint64_t bytes = 0;        ///< bytes of the source that are done
  std::uint64_t total_bytes = 0;  ///< 0 if not known in advance
  double seconds = 0;             ///< since the pass began
  std::size_t in_flight = 0;      ///< reads and writes in flight
  double stalled_seconds = 0;     ///< time without a completion among these
  /// Part of `bytes` that an earlier run has done: see Checkpoint.
  std::uint64_t resumed_bytes = 0;
};

/// Options of one pass. The Options of a coordinator concern the machine. A job of several passes,
/// such as a histogram that first looks for its range, uses the same PassOptions for each.
///
///     std::stop_source stop;
///     ooc::fold(coordinator, op, source, {.stop = stop.get_token()});
struct PassOptions {
  /// Stops the pass early: what it has begun to read is finished. The coordinator can be used again
  /// afterwards.
  std::stop_token stop{};

  /// Makes a stop give up also the requests to web servers that are not complete, which a server
  /// that is silent could delay for minutes. It is requested together with `stop` or later. The
  /// pass then throws Error(interrupted), whatever `keep_partial` says.
  std::stop_token abandon{};

  /// Called about ten times a second, and once at the end, on the thread that runs the pass. An
  /// exception from it fails the pass.
  std::function<void(const Progress&)> progress{};

  /// Called after each piece of work of a stage on a chunk, by the thread that did it; several
  /// threads may call it at once. It should be fast. An exception from it fails the pass. If empty,
  /// nothing is recorded and no time is spent.
  Observe observe{};

  /// Also computes XXH3-128 of the bytes of the source, in their order. Ignored by matmul().
  bool checksum = false;

  /// If true, a stopped fold returns its result for the `OutcomeStats::bytes` bytes of the source
  /// that it has processed, and sets `OutcomeStats::partial`. If false, and always for jobs that
  /// write a file, a stopped one throws Error(interrupted).
  bool keep_partial = false;

  /// The file from which a job resumes after it was stopped or killed. Requires a SavableFold, or a
  /// map, filter or scan with a `partial_name`, and a source of files. The data are then read from
  /// beginning to end, in several passes if that takes longer than Checkpoint::every_seconds. A
  /// stopped job throws Error(interrupted). Cannot be combined with a checksum; other jobs refuse
  /// it.
  Checkpoint checkpoint{};
};

/// Owns a device, its streams and the chunk pool, and runs passes over them. The pool is kept from
/// pass to pass; it may grow between passes, never during one.
///
///     ooc::Coordinator coordinator(ooc::best_device(), {.memory_bytes = std::size_t{8} << 30});
///
/// It may own several devices, which share the data of each fold: whichever has nothing left to
/// read takes the next block, until there are no more. The result has the same bits as on one
/// device.
///
///     ooc::Coordinator coordinator(ooc::all_devices());
///
/// Several GPUs share the passes of all folds that are not merged in order. GPUs and the CPU share
/// them only if the operator has `same_bits_everywhere`. Partials of all devices are merged on the
/// host. Other passes and jobs run on the first device, and a remark says why; matmul() uses all.
/// Limits of host memory are for all devices together, other options for each.
///
/// Threads: a coordinator runs one pass at a time, on whichever thread calls. A second one that is
/// begun meanwhile, on another thread or by a callback of the first, throws Error(usage); programs
/// that want two at once make two coordinators, which may read one Source.
///
/// Lifetime: a coordinator must outlive the Buffers that results of its passes hold.
class OOC_API Coordinator {
 public:
  /// Throws Error(usage) if the version (major or minor) of the library is not that of the headers
  /// that the program was compiled with.
  explicit Coordinator(std::unique_ptr<Device> device, Options options = {})
      : Coordinator(only(std::move(device)), std::move(options)) {}

  /// Owns several devices, which share passes. Throws Error(usage) if there is none.
  explicit Coordinator(std::vector<std::unique_ptr<Device>> devices, Options options = {})
      : Coordinator(std::move(devices), std::move(options),
                    Version{OOC_VERSION_MAJOR, OOC_VERSION_MINOR, OOC_VERSION_PATCH}) {}
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// Returns the device, or the first of several, which lives as long as the coordinator.
  Device& device() noexcept;

  /// Returns all devices. They live as long as the coordinator.
  std::vector<Device*> devices() const;

  /// Returns Options::ranks.
  Ranks* ranks() const noexcept;

  /// Returns the options that were given. If less than 256 MiB of memory are available, a limit on
  /// memory is added.
  const Options& options() const noexcept;

  /// Returns the maximum number of streams of the next passes on the first device. A loop over
  /// chunks (see Chunks) on a GPU may use twice as many, each with one buffer instead of two.
  std::size_t streams() const noexcept;

 private:
  friend OOC_API detail::CoordinatorState& detail::state_of(
      const Coordinator& coordinator) noexcept;

  Coordinator(std::vector<std::unique_ptr<Device>> devices, Options options, Version headers);
  static std::vector<std::unique_ptr<Device>> only(std::unique_ptr<Device> device);

  std::unique_ptr<detail::CoordinatorState> state_;
};

}  // namespace ooc
