#include "by_row/row_value.hpp"

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/memory.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ooc::detail::by_row {
namespace {

/// Results of tiles that are computed at a time, in memory of the device: enough to keep it busy.
constexpr std::size_t results_at_once = 131072;

constexpr unsigned threads = 128;

/// Each thread writes the result of a row. `nodes`: room for one for each tile.
template <class T>
__global__ void __launch_bounds__(threads)
    write_values(Question asked, Rows rows, std::size_t value_bytes,
                 const lines::TileResult* results, std::byte* nodes) {
  const std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= rows.count) return;
  const T* const row = reinterpret_cast<const T*>(rows.data) + i * asked.columns;
  const std::uint64_t bits = value_of(
      asked, row, results + i, rows.count,
      reinterpret_cast<reduction::Node<T>*>(nodes) + i * divide_up(asked.columns, tile_elements));
  switch (value_bytes) {
    case 1: reinterpret_cast<std::uint8_t*>(rows.out)[i] = static_cast<std::uint8_t>(bits); break;
    case 2: reinterpret_cast<std::uint16_t*>(rows.out)[i] = static_cast<std::uint16_t>(bits); break;
    case 4: reinterpret_cast<std::uint32_t*>(rows.out)[i] = static_cast<std::uint32_t>(bits); break;
    default: reinterpret_cast<std::uint64_t*>(rows.out)[i] = bits;
  }
}

}  // namespace

void reduce_rows_cuda(Stream& stream, const Question& asked, const Rows& rows) {
  const std::size_t tiles = lines_of(asked, rows.data, 1).tiles();
  const std::size_t at_once = std::min(rows.count, divide_up(results_at_once, tiles));
  const std::size_t row_bytes = asked.columns * size_of(asked.type);
  const std::size_t value_bytes = size_of(row_value_type(asked.type, asked.options.value));
  const std::size_t most_results = at_once * tiles;
  const Buffer memory(stream.temporaries(), most_results * sizeof(lines::TileResult));
  auto* const results = memory.as<lines::TileResult>();
  constexpr std::size_t node_bytes =
      std::max(sizeof(reduction::Node<double>), sizeof(reduction::Node<std::int64_t>));
  const Buffer nodes(stream.temporaries(), tiles > 1 ? most_results * node_bytes : 0);
  for (std::size_t first = 0; first < rows.count; first += at_once) {
    const Rows some{rows.data + first * row_bytes, std::min(rows.count - first, at_once),
                    rows.out + first * value_bytes};
    reduce_lines_cuda(stream, asked.type, lines_of(asked, some.data, some.count), results);
    const auto blocks = static_cast<unsigned>(divide_up(some.count, std::size_t{threads}));
    visit(asked.type, [&]<class T>(std::type_identity<T>) {
      write_values<T><<<blocks, threads, 0, static_cast<cudaStream_t>(stream.native())>>>(
          asked, some, value_bytes, results, nodes.as<std::byte>());
    });
    stream.check_launch("the kernel that writes the results of rows");
  }
}

}  // namespace ooc::detail::by_row
