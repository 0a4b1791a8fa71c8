#include "reduce_node.hpp"
#include "reduce_tiles.hpp"

#include <ooc/io/units.hpp>
#include <ooc/kernels/reduce.hpp>
#include <ooc/tile_tree.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace ooc {
namespace {

using reduction::Node;

template <class T>
struct Reduction {
  using Input = T;
  static constexpr bool merges_every_chunk = true;

  struct Partial {
    TileTree<Node<T>> tree;
    std::vector<reduction::TileResult> tiles;  // of one chunk; kept for the next
    reduction::CpuLane lane;
  };

  Simd simd = best_simd();

  void consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const {
    assert(in.first % tile_elements == 0);
    partial.tiles.resize(divide_up(in.size, tile_elements));
    const auto* bytes = reinterpret_cast<const std::byte*>(in.data);
    constexpr ElementType type = element_type_of<T>();
    if (stream.kind() == DeviceKind::cpu) {
      partial.lane.begin_chunk(in.first, in.size);
      reduce_tiles_cpu(type, bytes, in.size, simd, partial.lane, partial.tiles);
    } else {
      reduce_tiles_cuda(stream, type, bytes, in.size, partial.tiles);
    }
    for (std::size_t i = 0; i < partial.tiles.size(); ++i) {
      const std::size_t begin = i * tile_elements;
      const std::uint64_t first = in.first + begin;
      const std::size_t count = std::min(in.size - begin, tile_elements);
      partial.tree.add(first / tile_elements,
                       reduction::node_of<T>(partial.tiles[i], first, count));
    }
  }

  void merge(Partial& total, Partial& part) const { total.tree.absorb(part.tree); }
};

constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

/// The bits of a NaN differ between processors; those of a result must not.
double canonical(double value) {
  return std::isnan(value) ? quiet_nan : value;
}

template <class T>
Number value_from_key(std::uint64_t key) {
  if constexpr (is_floating<T>) {
    return reduction::floating_from_key(key);
  } else if constexpr (std::is_signed_v<T>) {
    return int128{static_cast<std::int64_t>(key ^ reduction::top_bit)};
  } else {
    return int128{key};
  }
}

/// The statistics of elements without a number among them, or that NaN spoils.
void set_nan(Statistics& result, double sum) {
  result.sum = sum;
  result.min = result.max = quiet_nan;
  result.mean = result.variance = result.stddev = quiet_nan;
}

template <class T>
void set_values(Statistics& result, const Node<T>& root) {
  if constexpr (is_floating<T>) {
    result.sum = canonical(root.sum);
  } else {
    result.sum = root.sum;
  }
  result.min = value_from_key<T>(root.min_key);
  result.max = value_from_key<T>(root.max_key);
  result.argmin = root.argmin;
  result.argmax = root.argmax;
  const double variance = root.m2 / static_cast<double>(root.values());
  result.mean = canonical(root.mean());
  result.variance = canonical(variance);
  result.stddev = canonical(std::sqrt(variance));
}

template <class T>
Statistics statistics_of(const Node<T>& root, NanPolicy policy) {
  Statistics result;
  result.count = root.count;
  result.nan = root.nan;
  if (root.nan > 0 && policy == NanPolicy::propagate) {
    set_nan(result, quiet_nan);
    result.argmin = result.argmax = root.first_nan;
  } else if (root.values() == 0) {
    set_nan(result, 0.0);
  } else {
    set_values(result, root);
  }
  return result;
}

}  // namespace

Result<Statistics> reduce(Coordinator& coordinator, const Source& source, NanPolicy policy) {
  const ElementType type = source.type() ? source.type()->element : ElementType::u1;
  return visit(type, [&]<class T>(std::type_identity<T>) -> Result<Statistics> {
    auto [partial, stats] = fold(coordinator, Reduction<T>{}, source);
    const auto root = partial.tree.root();
    return {root ? statistics_of(*root, policy) : Statistics{}, std::move(stats)};
  });
}

}  // namespace ooc
