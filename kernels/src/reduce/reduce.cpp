#include "reduce/exact_sum.hpp"
#include "reduce/node.hpp"
#include "reduce/places.hpp"
#include "reduce/saved_tree.hpp"
#include "reduce/statistics.hpp"
#include "reduce/tiles.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/partials/tile_tree.hpp>
#include <ooc/reduce.hpp>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
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
  if (const auto root = found.tree.take_root()) {
    return reduction::statistics_of(*root, found.sum, options_);
  }
  return reduction::statistics_of_nothing<T>();
}

template <IsElement T>
std::string Reduction<T>::question() const {
  return std::string(name_of(element_type_of<T>())) +
         (options_.nan == NanPolicy::omit ? " without NaN" : "") +
         (options_.exact ? ", exactly" : "");
}

template <IsElement T>
void Reduction<T>::save(const Partial& total, std::vector<std::byte>& out) const {
  static const TilesFound<T> nothing;
  const auto& found = total ? static_cast<const TilesFound<T>&>(*total) : nothing;
  reduction::save_tree(found.tree, out,
                       [&out](const Node<T>& node) { reduction::append_node(out, node); });
  if (options_.exact) append_bytes(out, found.sum);
}

template <IsElement T>
void Reduction<T>::load(std::span<const std::byte> in, Partial& total) const {
  ByteReader bytes(in);
  auto& found = found_in<T>(total);
  reduction::load_tree(bytes, tile_elements, sizeof(Node<T>), found.tree,
                       [&bytes] { return reduction::take_node<T>(bytes); });
  if (options_.exact) found.sum = bytes.take<ExactSum>();
  bytes.require_end();
}

template <IsElement T>
std::uint64_t Reduction<T>::records_in(const Partial& total) const {
  if (!total) return 0;
  return reduction::records_in_tree(static_cast<const TilesFound<T>&>(*total).tree);
}

template <IsElement T>
std::vector<std::pair<std::uint64_t, std::uint64_t>> Reduction<T>::nodes_in(
    const Partial& total) const {
  if (!total) return {};
  return reduction::places_in_tree(static_cast<const TilesFound<T>&>(*total).tree);
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
