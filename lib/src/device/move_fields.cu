#include <algorithm>
#include <cstdint>

#include "device/move_fields.hpp"

namespace ooc::detail {

namespace {

/// A move in numbers of 32 bits, as records have no more than 2^30 bytes.
struct Move {
  std::uint32_t from, to, words;
  std::uint32_t word_bytes;
  std::uint32_t swapped_bytes;
};

// Moves are arguments of the kernel, which are limited to 4 KiB, so that nothing is allocated.
constexpr std::size_t most_moves = 100;
struct Moves {
  Move list[most_moves];
  unsigned count;
};

template <class Word>
__device__ void copy_words(std::byte* target, const std::byte* source, const Move& move) {
  for (std::uint32_t i = 0; i < move.words; ++i) {
    reinterpret_cast<Word*>(target + move.to)[i] =
        reinterpret_cast<const Word*>(source + move.from)[i];
  }
}

/// Copies the bytes of a field, which are those of elements in reverse order if it is swapped.
__device__ void copy_bytes(std::byte* target, const std::byte* source, const Move& move) {
  const std::uint32_t flip = move.swapped_bytes != 0 ? move.swapped_bytes - 1 : 0;  // 0, 1, 3, 7
  for (std::uint32_t i = 0; i < move.words; ++i)
    target[move.to + (i ^ flip)] = source[move.from + i];
}

/// Uses a thread for each record. The records of a warp are adjacent, so a cache line that its
/// threads have read in part is still in the cache when they read the next field.
__global__ void move_records(MovedRecords records, const Moves moves) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < records.count;
       i += stride) {
    std::byte* const target = records.target + i * records.target_bytes;
    const std::byte* const source = records.source + i * records.source_bytes;
    for (unsigned m = 0; m < moves.count; ++m) {
      const Move& move = moves.list[m];
      switch (move.word_bytes) {
        case 8: copy_words<std::uint64_t>(target, source, move); break;
        case 4: copy_words<std::uint32_t>(target, source, move); break;
        case 2: copy_words<std::uint16_t>(target, source, move); break;
        default: copy_bytes(target, source, move);
      }
    }
  }
}

/// Returns a move with the largest words whose size divides all addresses of the field. Swapped
/// elements go byte by byte.
Move prepared(const MovedRecords& records, const FieldMove& move) {
  const std::size_t addresses = reinterpret_cast<std::uintptr_t>(records.target) |
                                reinterpret_cast<std::uintptr_t>(records.source) |
                                records.target_bytes | records.source_bytes | move.from | move.to |
                                move.bytes;
  std::size_t word = 8;
  while (addresses % word != 0) word /= 2;
  if (move.swapped_bytes != 0) word = 1;
  return {static_cast<std::uint32_t>(move.from), static_cast<std::uint32_t>(move.to),
          static_cast<std::uint32_t>(move.bytes / word), static_cast<std::uint32_t>(word),
          static_cast<std::uint32_t>(move.swapped_bytes)};
}

}  // namespace

cudaError_t move_fields_cuda(const MovedRecords& records, std::span<const FieldMove> moves,
                             cudaStream_t stream) {
  constexpr std::size_t threads = 256;
  constexpr std::size_t most_blocks = 4096;  // several waves on any GPU; the kernel strides
  if (records.count == 0) return cudaSuccess;
  const auto blocks =
      static_cast<unsigned>(std::min((records.count + threads - 1) / threads, most_blocks));
  while (!moves.empty()) {
    Moves some{};
    for (const FieldMove& move : moves.first(std::min(moves.size(), most_moves))) {
      some.list[some.count++] = prepared(records, move);
    }
    move_records<<<blocks, threads, 0, stream>>>(records, some);
    if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) return status;
    moves = moves.subspan(some.count);
  }
  return cudaSuccess;
}

}  // namespace ooc::detail
