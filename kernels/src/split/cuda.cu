#include <ooc/memory.hpp>

#include <algorithm>

#include "split/choice.hpp"

namespace ooc::detail::splitting {

namespace {

constexpr unsigned block_threads = 256;
constexpr std::size_t most_blocks = 4096;  // several waves on any GPU; the kernel strides

template <class OutputOf>
__global__ void assign_records(OutputOf output_of, std::size_t count, std::uint16_t* outputs) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    outputs[i] = output_of(i);
  }
}

__global__ void number_records(std::uint64_t first, std::size_t count, std::int64_t* numbers) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    numbers[i] = static_cast<std::int64_t>(first + i);
  }
}

unsigned blocks_for(std::size_t count) {
  const std::size_t needed = (count + block_threads - 1) / block_threads;
  return static_cast<unsigned>(std::min(needed, most_blocks));
}

}  // namespace

void assign_cuda(Stream& stream, const Choice& choice, const ChosenRecords& records,
                 std::uint16_t* outputs) {
  if (records.count == 0) return;
  Buffer edges;
  if (const auto* const by_edges = std::get_if<KeyEdges>(&choice);
      by_edges != nullptr && !by_edges->keys.empty()) {
    const std::size_t bytes = by_edges->keys.size() * sizeof(std::uint64_t);
    edges = Buffer(stream.temporaries(), bytes);
    stream.copy(edges.data(), by_edges->keys.data(), bytes);
  }
  const unsigned blocks = blocks_for(records.count);
  with_choice(choice, records, edges.as<std::uint64_t>(), [&](const auto& output_of) {
    assign_records<<<blocks, block_threads, 0, static_cast<cudaStream_t>(stream.native())>>>(
        output_of, records.count, outputs);
  });
  stream.check_launch("the kernel of a split");
}

void number_cuda(Stream& stream, std::uint64_t first, std::size_t count, std::int64_t* numbers) {
  if (count == 0) return;
  number_records<<<blocks_for(count), block_threads, 0,
                   static_cast<cudaStream_t>(stream.native())>>>(first, count, numbers);
  stream.check_launch("the kernel of indices");
}

}  // namespace ooc::detail::splitting
