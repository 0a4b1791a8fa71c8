#pragma once

#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/device.hpp>
#include <ooc/io/output_file.hpp>
#include <ooc/io/source.hpp>
#include <ooc/options.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace ooc {

/// The most that a pass reads from a disk while a GPU starts (bytes).
inline constexpr std::uint64_t most_read_ahead_bytes = std::uint64_t{512} << 20;

/// Cores that this process may use, or the time of how many where that is less: at least 1.
std::size_t usable_cores();

/// How many work at once.
struct Workers {
  std::size_t lanes;          // streams
  std::size_t reading_lanes;  // where each reads what it computes: as many, or more
  std::size_t readers;        // threads of the threads engine
  std::size_t writers;        // of another one, if a pass writes through the page cache
  std::string_view why_lanes{}, why_reading_lanes{};  // sentences
};

Workers choose_workers(const Options& options, DeviceKind device);

/// In which way bytes go between files and memory: what the user has fixed, and the rest as fits
/// the device and the place where the bytes lie.
struct IoConfig {
  bool writes = false;
  bool direct = false;  // past the page cache, where the file allows it
  EngineKind engine = EngineKind::automatic;
  std::size_t threads = 0;  // of the threads engine
  std::size_t chunk_bytes = 0;
  std::size_t block_bytes = 0;   // of one request
  std::size_t queue_depth = 0;   // requests in flight
  std::string_view why_chunk{};  // a sentence on its size
  std::string reason{};          // why not past the page cache, unless that was the user's choice
};

/// `cached`: the part of the source that lies in the page cache, 0 to 1. Throws Error(usage) if
/// direct reads were asked for and are impossible.
IoConfig choose_read_config(const Options& options, DeviceKind device, Workers workers,
                            const Source& source, double cached);

IoConfig choose_write_config(const Options& options, DeviceKind device, Workers workers,
                             const OutputFile& file);

/// True if the cached part of a source is to be read through the page cache and the rest directly,
/// by turns. Both parts must exist, more than a little must be on the disk, and `options` must
/// leave the choice to the library.
bool can_mix_reads(const Options& options, const Source& source, double cached);

/// Returns the configuration for such reads.
IoConfig choose_mixed_read_config(const Options& options, DeviceKind device, Workers workers,
                                  double cached);

/// Returns the configuration for the same transfer through the page cache, because of `reason`.
IoConfig through_page_cache(const Options& options, DeviceKind device, Workers workers, bool writes,
                            std::string reason);

/// Returns the engine for a configuration, or the one that `options` makes instead. `slots`: the
/// number of slots, from the first of the pool on, that are used all the time.
std::unique_ptr<Engine> make_engine(const Options& options, const IoConfig& config,
                                    const ChunkPool& pool,
                                    std::size_t slots = std::numeric_limits<std::size_t>::max());

}  // namespace ooc
