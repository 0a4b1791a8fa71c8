#include <ooc/detail/base/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device/gather.hpp"

namespace ooc::detail {

namespace {

// Pieces are arguments of the kernel, which are limited to 32,764 bytes, so that nothing is
// allocated.
constexpr unsigned most_pieces = 2000;
struct Pieces {
  std::byte* target;  // aligned to a word
  unsigned count;
  std::uint64_t begins[most_pieces + 1];  // of the pieces in the target, and the end of the last
  const std::byte* sources[most_pieces];
};
static_assert(sizeof(Pieces) <= 32'764);

// A warp copies a tile of the target at a time, whatever pieces are in it. So the work is divided
// evenly, even if a piece of a byte is beside one of many MiB.
constexpr unsigned warp_threads = 32;
constexpr unsigned word_bytes = sizeof(uint4);
constexpr unsigned words_per_thread = 4;  // are loaded before the first is stored
constexpr unsigned tile_bytes = warp_threads * words_per_thread * word_bytes;

/// Returns the piece that has the byte at `place` in the target; the first one if there is none.
__device__ unsigned piece_at(const Pieces& pieces, std::uint64_t place) {
  unsigned found = 0, end = pieces.count;
  while (end - found > 1) {
    const unsigned middle = (found + end) / 2;
    (pieces.begins[middle] <= place ? found : end) = middle;
  }
  return found;
}

/// Returns the word that begins `shift` bytes after the first byte of `low`, which `high` follows.
__device__ uint4 shifted(uint4 low, uint4 high, unsigned shift) {
  std::uint32_t parts[] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  // Indices that are constants keep the parts in registers.
  if ((shift & 8) != 0) {
#pragma unroll
    for (unsigned i = 0; i < 6; ++i) parts[i] = parts[i + 2];
  }
  if ((shift & 4) != 0) {
#pragma unroll
    for (unsigned i = 0; i < 5; ++i) parts[i] = parts[i + 1];
  }
  const unsigned bits = shift % 4 * 8;
  return {__funnelshift_r(parts[0], parts[1], bits), __funnelshift_r(parts[1], parts[2], bits),
          __funnelshift_r(parts[2], parts[3], bits), __funnelshift_r(parts[3], parts[4], bits)};
}

/// Returns the value of the next thread of the warp; in the last one, that of the first.
__device__ uint4 from_next_thread(uint4 value) {
  constexpr unsigned all = 0xffffffff;
  const unsigned next = threadIdx.x + 1;  // modulo the warp
  return {__shfl_sync(all, value.x, next), __shfl_sync(all, value.y, next),
          __shfl_sync(all, value.z, next), __shfl_sync(all, value.w, next)};
}

/// Copies at most a tile. The source may begin anywhere. Host memory is read in whole aligned
/// words, each of them once, since small reads and those that overlap waste the link.
__device__ void copy_words(uint4* target, const std::byte* source, unsigned words) {
  if (words == 0) return;
  const unsigned thread = threadIdx.x % warp_threads;
  const auto shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(source) % word_bytes);
  const auto* const aligned = reinterpret_cast<const uint4*>(source - shift);
  const unsigned touched = words + (shift != 0 ? 1 : 0);  // each has bytes of the source
  uint4 loaded[words_per_thread + 1]{};  // the last one is only in the first thread
#pragma unroll
  for (unsigned i = 0; i <= words_per_thread; ++i) {
    const unsigned word = i * warp_threads + thread;
    if (word < touched) loaded[i] = aligned[word];
  }
#pragma unroll
  for (unsigned i = 0; i < words_per_thread; ++i) {
    const unsigned word = i * warp_threads + thread;
    const uint4 next = from_next_thread(thread == 0 ? loaded[i + 1] : loaded[i]);
    if (word < words) target[word] = shifted(loaded[i], next, shift);
  }
}

/// Copies at most a tile by a warp. Words of the target that have bytes of other pieces, too, are
/// written by bytes: at most 15 at each end, each by another thread.
__device__ void copy_part(std::byte* target, const std::byte* source, unsigned bytes) {
  const auto behind = static_cast<unsigned>(-reinterpret_cast<std::uintptr_t>(target) % word_bytes);
  const unsigned head = min(behind, bytes);
  const unsigned words = (bytes - head) / word_bytes;
  const unsigned tail = head + words * word_bytes;
  const unsigned thread = threadIdx.x % warp_threads;
  const bool is_head = thread < word_bytes;
  const unsigned place = is_head ? thread : tail + thread - word_bytes;
  const bool has_byte = place < (is_head ? head : bytes);
  // Is stored last, so that the words are loaded meanwhile.
  const std::byte byte = has_byte ? source[place] : std::byte{};
  copy_words(reinterpret_cast<uint4*>(target + head), source + head, words);
  if (has_byte) target[place] = byte;
}

__global__ void gather_pieces(const __grid_constant__ Pieces pieces) {
  const std::uint64_t warp = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / warp_threads;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x / warp_threads * tile_bytes;
  const std::uint64_t end = pieces.begins[pieces.count];
  for (std::uint64_t tile = warp * tile_bytes; tile < end; tile += stride) {
    const std::uint64_t tile_end = min(tile + tile_bytes, end);
    for (unsigned i = piece_at(pieces, tile); i < pieces.count && pieces.begins[i] < tile_end;
         ++i) {
      const std::uint64_t from = max(tile, pieces.begins[i]);
      const std::uint64_t to = min(tile_end, pieces.begins[i + 1]);
      copy_part(pieces.target + from, pieces.sources[i] + (from - pieces.begins[i]),
                static_cast<unsigned>(to - from));
    }
  }
}

/// Returns the arguments for the first of `pieces`, as many as fit.
Pieces arguments_for(std::byte* target, std::span<const std::span<std::byte>> pieces) {
  std::uint64_t place = reinterpret_cast<std::uintptr_t>(target) % word_bytes;
  Pieces some{};
  some.target = target - place;
  for (const auto piece : pieces.first(std::min<std::size_t>(pieces.size(), most_pieces))) {
    some.begins[some.count] = place;
    some.sources[some.count++] = piece.data();
    place += piece.size();
  }
  some.begins[some.count] = place;
  return some;
}

cudaError_t launch(const Pieces& pieces, cudaStream_t stream) {
  constexpr unsigned threads = 256;
  // These have 1 MiB in flight, many times what the link carries in its latency (0.1 MB in 2 us).
  // They leave most of the GPU to operators of other lanes, which run meanwhile.
  constexpr std::uint64_t most_blocks = 64;
  constexpr std::uint64_t block_bytes = threads / warp_threads * tile_bytes;
  const std::uint64_t end = pieces.begins[pieces.count];
  if (end == pieces.begins[0]) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(std::min(divide_up(end, block_bytes), most_blocks));
  gather_pieces<<<blocks, threads, 0, stream>>>(pieces);
  return cudaGetLastError();
}

cudaError_t copy_each(std::byte* target, std::span<const std::span<std::byte>> pieces,
                      cudaStream_t stream) {
  for (const std::span<std::byte> piece : pieces) {
    const cudaError_t status =
        cudaMemcpyAsync(target, piece.data(), piece.size(), cudaMemcpyDefault, stream);
    if (status != cudaSuccess) return status;
    target += piece.size();
  }
  return cudaSuccess;
}

/// True if a kernel gathers the pieces faster than a copy of each. Copies take 2.8 us apiece and
/// the time of the bytes at 54.7 GB/s, and a kernel reads 50 GB/s at any size
/// (bench/results/h200-joined-reads.txt). So copies of 256 KiB have 69 % of its rate, and those of
/// 1 MiB 96 %. These are preferred, since they leave the whole GPU to operators.
bool are_small(std::span<const std::span<std::byte>> pieces) {
  constexpr std::size_t large_bytes = 1 * MiB;
  std::size_t bytes = 0;
  for (const std::span<std::byte> piece : pieces) bytes += piece.size();
  return pieces.size() > 1 && bytes / pieces.size() < large_bytes;
}

}  // namespace

cudaError_t gather_cuda(std::byte* target, std::span<const std::span<std::byte>> pieces,
                        cudaStream_t stream) {
  if (!are_small(pieces)) return copy_each(target, pieces, stream);
  // A kernel can read page-locked memory only. This query takes less time than one copy.
  const std::byte* const first = pieces.front().data();
  cudaPointerAttributes found{};
  const cudaError_t status = cudaPointerGetAttributes(&found, first);
  if (status != cudaSuccess) return status;
  const bool is_locked = found.type == cudaMemoryTypeHost && found.devicePointer == first;
  if (!is_locked) return copy_each(target, pieces, stream);
  while (!pieces.empty()) {
    const Pieces some = arguments_for(target, pieces);
    if (const cudaError_t launched = launch(some, stream); launched != cudaSuccess) return launched;
    target = some.target + some.begins[some.count];
    pieces = pieces.subspan(some.count);
  }
  return cudaSuccess;
}

}  // namespace ooc::detail
