#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/sizing/facts.hpp>
#include <ooc/device.hpp>
#include <ooc/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace ooc::detail {

/// The most that a pass reads from a disk while a GPU starts (bytes).
inline constexpr std::uint64_t most_read_ahead_bytes = std::uint64_t{512} << 20;

/// Returns the cores that this process may use, or its limit of CPU time in cores, at least 1.
std::size_t usable_cores();

/// Numbers of threads and streams.
struct Workers {
  std::size_t lanes;          // streams
  std::size_t reading_lanes;  // streams, if each reads what it computes: as many, or more
  std::size_t readers;        // threads of an engine that reads
  std::size_t writers;        // threads of an engine that writes through the page cache
  std::size_t decoders;       // threads of an engine that reads and decodes
  ReasonKind why_lanes = ReasonKind::stream_per_core;          // the reason for `lanes`
  ReasonKind why_reading_lanes = ReasonKind::stream_per_core;  // the reason for `reading_lanes`
};

/// Chooses the numbers of threads and streams for a device.
Workers choose_workers(const Options& options, const DeviceFacts& device,
                       std::size_t cores = usable_cores());

/// How bytes are transferred between files and memory: as the user has set or, by default, as suits
/// the device and the state of the page cache.
struct IoConfig {
  bool writes = false;
  bool direct = false;  // with O_DIRECT, where the file allows it
  EngineKind engine = EngineKind::automatic;
  std::size_t threads = 0;  // of the threads engine
  std::size_t chunk_bytes = 0;
  std::size_t block_bytes = 0;                        // of one request
  std::size_t queue_depth = 0;                        // requests in flight
  ReasonKind why_chunk = ReasonKind::chunk_for_disk;  // the reason for `chunk_bytes`
  std::optional<Reason> reason{};                     // why not all reads or writes are direct
};

/// Returns how to read a source. Throws Error(usage) if direct reads were asked for and are
/// impossible.
IoConfig choose_read_config(const Options& options, const DeviceFacts& device, Workers workers,
                            const SourceFacts& source);

/// Returns how to write a file. `why_not_direct`: empty if it can be written directly.
IoConfig choose_write_config(const Options& options, const DeviceFacts& device, Workers workers,
                             const std::string& why_not_direct);

/// True if cached parts may be read through the page cache and the rest directly, by turns: there
/// is some of each, more than a little on the disk, and the user has fixed nothing against it.
bool can_mix_reads(const Options& options, const SourceFacts& source);

/// Returns how to read cached parts and the rest by turns. `cached`: the cached fraction.
IoConfig choose_mixed_read_config(const Options& options, const DeviceFacts& device,
                                  Workers workers, double cached);

/// Returns how to read or write through the page cache. `why`: the cause, as in Reason.
IoConfig through_page_cache(const Options& options, const DeviceFacts& device, Workers workers,
                            bool writes, std::string why);

/// Makes the engine for `config`, or calls Options::make_engine. `slots`: number of slots, from the
/// first one on, that the engine uses all the time. `abandon`: see EngineOptions.
std::unique_ptr<Engine> make_engine(const Options& options, const IoConfig& config,
                                    const ChunkPool& pool,
                                    std::size_t slots = std::numeric_limits<std::size_t>::max(),
                                    std::stop_token abandon = {});

}  // namespace ooc::detail
