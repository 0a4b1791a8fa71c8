#include "reduce/exact_sum.hpp"
#include "reduce/node.hpp"
#include "reduce/places.hpp"
#include "reduce/tiles.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/partials/tile_tree.hpp>
#include <ooc/reduce.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace ooc {

using namespace detail;
namespace {

using reduction::ExactSum;
using reduction::Node;

template <class T>
struct TilesFound final : OpaqueState {
  Simd simd = best_simd();
  TileTree<Node<T>> tree;
  std::vector<reduction::TileResult> tiles;  // of one chunk; kept to reuse the memory
  reduction::CpuLane lane;
  // Used for data in Fortran order.
  std::vector<reduction::TilePlaces> places;
  reduction::TilePlaces lane_places;
  ExactSum sum;  // used if ReduceOptions::exact
};

template <class T>
TilesFound<T>& found_in(OpaquePartial& partial) {
  if (!partial) partial = std::make_unique<TilesFound<T>>();
  return static_cast<TilesFound<T>&>(*partial);
}

/// Exact sums of a CPU lane for elements of type T. Integers need none: their sums are always
/// exact.
template <class T>
using Bins = reduction::ExactBins<std::conditional_t<sizeof(T) == 8, double, float>>;

constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

/// Replaces any NaN by one fixed NaN, since the bits of NaN depend on the processor.
double canonical(double value) {
  return std::isnan(value) ? quiet_nan : value;
}

template <class T>
Scalar value_from_key(std::uint64_t key) {
  if constexpr (is_floating<T>) {
    return reduction::floating_from_key(key);
  } else if constexpr (std::is_signed_v<T>) {
    return int128{static_cast<std::int64_t>(key ^ reduction::top_bit)};
  } else {
    return int128{key};
  }
}

/// Sets the statistics if all elements are NaN, or if a NaN propagates.
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

/// Rounds sum and mean from the exact sum of the finite elements. Extremes show infinities.
template <class T>
void set_exact(Statistics& result, const Node<T>& root, ExactSum sum) {
  if constexpr (is_floating<T>) {
    const double min = reduction::floating_from_key(root.min_key);
    const double max = reduction::floating_from_key(root.max_key);
    if (std::isinf(min) || std::isinf(max)) {
      result.mean = canonical(min + max);
      result.sum = *result.mean;
      return;
    }
    result.sum = sum.rounded();
  } else {
    sum.add(root.sum);
  }
  result.mean = sum.rounded(root.values());
}

/// Throws Error(bad_input) unless the places are known, which is so unless a part was forged.
void require_places(std::initializer_list<std::uint64_t> places) {
  if (std::ranges::find(places, reduction::nowhere_at_all) == places.end()) return;
  throw Error(ErrorKind::bad_input, "a saved partial result does not say where its extremes are");
}

template <class T>
Statistics statistics_of(const Node<T>& root, const ExactSum& sum, const ReduceOptions& options) {
  Statistics result;
  result.count = root.count;
  result.nan = root.nan;
  result.inf = root.inf;
  if (root.nan > 0 && options.nan == NanPolicy::propagate) {
    set_nan(result, quiet_nan);
    require_places({root.first_nan});
    result.argmin = result.argmax = root.first_nan;
  } else if (root.values() == 0) {
    set_nan(result, 0.0);
  } else {
    require_places({root.argmin, root.argmax});
    set_values(result, root);
    if (options.exact) set_exact(result, root, sum);
  }
  return result;
}

}  // namespace

template <IsElement T>
OpaquePartial Reduction<T>::make_partial(Stream& stream) const {
  OpaquePartial partial;
  auto& found = found_in<T>(partial);
  if (is_floating<T> && options_.exact && stream.kind() == DeviceKind::cpu) {
    found.lane.exact.template emplace<Bins<T>>();
  }
  return partial;
}

template <IsElement T>
void Reduction<T>::consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const {
  assert(in.first % tile_elements == 0);
  auto& [simd, tree, tiles, lane, places, lane_places, sum] = found_in<T>(partial);
  tiles.resize(divide_up(in.size, tile_elements));
  const auto* bytes = reinterpret_cast<const std::byte*>(in.data);
  constexpr ElementType type = element_type_of<T>();
  if (stream.kind() == DeviceKind::cpu) {
    lane.begin_chunk(in.first, in.size);
    reduce_tiles_cpu(type, bytes, in.size, simd, lane, tiles);
  } else {
    reduce_tiles_cuda(stream, type, bytes, in.size, tiles);
    if (is_floating<T> && options_.exact) add_exactly_cuda(stream, type, bytes, in.size, sum);
  }
  if (!column_major_.empty()) {
    const auto parts = reduction::parts_of(column_major_, in.first, in.size);
    places.assign(tiles.size(), {});
    if (stream.kind() == DeviceKind::cpu) {
      place_tiles_cpu(type, bytes, parts, in.first, tiles, lane_places, places);
    } else {
      place_tiles_cuda(stream, type, bytes, parts, in.first, tiles, places);
    }
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const std::size_t begin = i * tile_elements;
    const std::uint64_t first = in.first + begin;
    const std::size_t count = std::min(in.size - begin, tile_elements);
    tree.add(first / tile_elements, column_major_.empty()
                                        ? reduction::node_of<T>(tiles[i], first, count)
                                        : reduction::node_of<T>(tiles[i], places[i], count));
  }
}

template <IsElement T>
void Reduction<T>::finish(Stream&, std::span<Partial> partials) const {
  for (Partial& partial : partials) {
    auto& found = found_in<T>(partial);
    if (auto* const bins = std::get_if<Bins<T>>(&found.lane.exact)) found.sum.merge(bins->take());
  }
}

template <IsElement T>
void Reduction<T>::merge(Partial& total, Partial& part) const {
  auto& all = found_in<T>(total);
  auto& found = found_in<T>(part);
  all.tree.absorb(found.tree);
  if (options_.exact) all.sum.merge(std::exchange(found.sum, {}));
}

template <IsElement T>
Statistics Reduction<T>::result(Partial total) const {
  auto& found = found_in<T>(total);
  if (const auto root = found.tree.take_root()) return statistics_of(*root, found.sum, options_);
  Statistics nothing;
  nothing.sum = typename Node<T>::Sum{};
  return nothing;
}

template <IsElement T>
std::string Reduction<T>::question() const {
  return std::string(name_of(element_type_of<T>())) +
         (options_.nan == NanPolicy::omit ? " without NaN" : "") +
         (options_.exact ? ", exactly" : "");
}

template <IsElement T>
void Reduction<T>::save(const Partial& total, std::vector<std::byte>& out) const {
  constexpr std::size_t words = is_floating<T> ? 9 : 8;  // no padding between them
  static_assert(sizeof(Node<T>) == words * sizeof(std::uint64_t) + sizeof(typename Node<T>::Sum));
  static const TilesFound<T> nothing;
  const auto& found = total ? static_cast<const TilesFound<T>&>(*total) : nothing;
  auto nodes = std::vector(found.tree.nodes().begin(), found.tree.nodes().end());
  std::ranges::sort(nodes, {}, [](const auto& node) { return node.first_tile(); });
  append_bytes(out, std::uint64_t{nodes.size()});
  for (const auto& [level, index, node] : nodes) {
    append_bytes(out, std::uint64_t{level});
    append_bytes(out, index);
    append_bytes(out, node);
  }
  if (options_.exact) append_bytes(out, found.sum);
}

template <IsElement T>
void Reduction<T>::load(std::span<const std::byte> in, Partial& total) const {
  ByteReader bytes(in);
  auto& found = found_in<T>(total);
  const std::size_t count = bytes.take_count(sizeof(Node<T>));
  std::uint64_t end = 0;  // end of the tiles read so far
  for (std::size_t i = 0; i < count; ++i) {
    const auto level = bytes.take<std::uint64_t>();
    const auto index = bytes.take<std::uint64_t>();
    const auto node = bytes.take<Node<T>>();
    constexpr std::uint64_t most_tiles = ~std::uint64_t{0} / tile_elements;
    const bool is_there = level < 48 && index <= most_tiles >> level && index << level >= end;
    const std::uint64_t most = is_there ? tile_elements << level : 0;
    // Only the last tile of a dataset may be short.
    const bool is_last = i + 1 == count;
    if (node.count > most || node.count + tile_elements <= most ||
        (node.count != most && !is_last)) {
      throw Error(ErrorKind::bad_input, "a saved partial result has tiles that are not there");
    }
    if (!reduction::is_possible(node)) {
      throw Error(ErrorKind::bad_input,
                  "a saved partial result has statistics that no values have");
    }
    end = (index + 1) << level;
    found.tree.insert({static_cast<unsigned>(level), index, node});
  }
  if (options_.exact) found.sum = bytes.take<ExactSum>();
  bytes.require_end();
}

template <IsElement T>
std::uint64_t Reduction<T>::records_in(const Partial& total) const {
  std::uint64_t count = 0;
  if (!total) return count;
  for (const auto& placed : static_cast<const TilesFound<T>&>(*total).tree.nodes()) {
    count += placed.node.count;
  }
  return count;
}

template <IsElement T>
std::vector<std::pair<std::uint64_t, std::uint64_t>> Reduction<T>::nodes_in(
    const Partial& total) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> nodes;
  if (!total) return nodes;
  for (const auto& [level, index, node] : static_cast<const TilesFound<T>&>(*total).tree.nodes()) {
    nodes.emplace_back(level, index);
  }
  return nodes;
}

template class Reduction<std::uint8_t>;
template class Reduction<std::uint16_t>;
template class Reduction<std::uint32_t>;
template class Reduction<std::uint64_t>;
template class Reduction<std::int8_t>;
template class Reduction<std::int16_t>;
template class Reduction<std::int32_t>;
template class Reduction<std::int64_t>;
template class Reduction<Float16>;
template class Reduction<float>;
template class Reduction<double>;
template class Reduction<BFloat16>;

Result<Statistics> reduce(Coordinator& coordinator, const Source& source,
                          const ReduceOptions& options, const PassOptions& wanted) {
  return visit(source.element(), [&]<class T>(std::type_identity<T>) {
    return fold(coordinator, Reduction<T>(options, source.column_major()), source, wanted);
  });
}

Result<PartialResult<Statistics>> collect_reduce(Coordinator& coordinator, const Source& section,
                                                 const ReduceOptions& options,
                                                 const PassOptions& wanted) {
  return visit(section.element(), [&]<class T>(std::type_identity<T>) {
    return collect(coordinator, Reduction<T>(options, section.column_major()), section, wanted);
  });
}

PartialResult<Statistics> load_reduce(ElementType type, const ReduceOptions& options,
                                      std::span<const std::byte> saved) {
  return visit(type, [&]<class T>(std::type_identity<T>) {
    return load_part(Reduction<T>(options), saved);
  });
}

}  // namespace ooc
