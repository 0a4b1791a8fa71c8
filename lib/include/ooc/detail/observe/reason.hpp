#pragma once

#include <ooc/detail/base/language.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ooc {

/// A choice that the library makes. Braces list the figures of its Reason; without braces there are
/// none. A choice that is marked with "why" has a cause in words, the others have none.
enum class Choice : std::uint8_t {
  // Reads and writes.
  buffered_reads,   ///< through the page cache; why
  produced_reads,   ///< from a producer, once, from beginning to end; its name
  remote_reads,     ///< from a server; its name
  cached_reads,     ///< through the page cache, which has much of the input: {percent of it}
  mixed_reads,      ///< cached parts through the page cache: {percent of the input}; rest directly
  ordered_reads,    ///< from beginning to end, as was asked for; mixed reads were possible
  input_not_kept,   ///< on the device for the next pass, for lack of memory there
  resident_input,   ///< the first bytes are on the device already: {bytes, of the input}
  buffered_writes,  ///< through the page cache; why
  engine,           ///< not the preferred one, or one without registered buffers; why
  queue_depth,      ///< the fastest that was tried: {requests in flight, before tuning}
  no_read_ahead,    ///< nothing is read while a GPU starts, for lack of memory

  // The size of a chunk.
  chunk_for_disk,       ///< small: the disk is slower than the link
  chunk_for_link,       ///< large enough to fill the link
  chunk_for_core,       ///< fits in the cache of the core that consumes it
  chunk_for_requests,   ///< large: a server answers each request after a round trip
  chunk_for_margin,     ///< large beside the margin that is read twice
  chunk_for_kernels,    ///< large enough to hide the start of kernels, since nothing is loaded
  chunk_as_asked,       ///< Options::chunk_bytes, rounded up to a multiple of: {records}
  chunk_at_least,       ///< more than Options::chunk_bytes, the smallest possible: {records}
  chunk_within_limits,  ///< the largest within the limits of memory
  chunk_halved,         ///< a GPU had no memory for a larger one: {bytes, bytes before}; why

  // The number of streams.
  streams_as_asked,        ///< Options::streams
  two_streams,             ///< one computes while the other is being filled
  three_streams,           ///< one is being filled while the others compute
  stream_per_core,         ///< one for each core
  stream_per_thread,       ///< one for each of Options::threads, which reads what it computes
  stream_per_two_threads,  ///< one for every second of Options::threads; the others read
  streams_within_limits,   ///< as many as the limit of memory has room for

  // The blocks and panels of a matrix product. Loads: times that an operand is loaded, rounded up.
  product_blocks,  ///< each device computes a block of C: {rows of blocks, columns of blocks}
  resident_a,      ///< panels of A stay on the device: {loads of A, loads of B}
  resident_b,      ///< panels of B do: {loads of A, loads of B}
  resident_c,      ///< a tile of C does: {loads of A, loads of B, rows of tiles, columns of tiles}
  cached_panels,   ///< host memory keeps panels that are loaded again: {panels}
};

/// A choice with its cause and figures. It is data, so that a program can compare the reasons of
/// two passes and put them into its own words.
struct Reason {
  Choice what;  ///< the choice that was made

  /// The cause in words, often those of the file system, the kernel or the device, for example
  /// "tmpfs has no disk under it". Empty if `what` and the figures are enough.
  std::string why{};
  std::vector<std::uint64_t> figures{};  ///< as listed at each Choice

  friend bool operator==(const Reason&, const Reason&) = default;
};

}  // namespace ooc
