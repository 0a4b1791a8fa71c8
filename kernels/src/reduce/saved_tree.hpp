#pragma once

#include "reduce/node.hpp"

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/partials/tile_tree.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

// Trees of tiles as bytes, for parts and checkpoints. `records_of(node)` is the number of records
// of a node of such a tree: of elements, or of rows.

namespace ooc::detail::reduction {

template <class T>
std::uint64_t records_of(const Node<T>& node) {
  return node.count;
}
/// Each column of rows has a node.
template <class T>
std::uint64_t records_of(const std::vector<Node<T>>& nodes) {
  return nodes.front().count;
}

template <class T>
void append_node(std::vector<std::byte>& out, const Node<T>& node) {
  constexpr std::size_t words = is_floating<T> ? 9 : 8;  // no padding between them
  static_assert(sizeof(Node<T>) == words * sizeof(std::uint64_t) + sizeof(typename Node<T>::Sum));
  append_bytes(out, node);
}

/// Reads a node. Throws Error(bad_input) for statistics that no values have.
template <class T>
Node<T> take_node(ByteReader& bytes) {
  const auto node = bytes.take<Node<T>>();
  if (is_possible(node)) return node;
  throw Error(ErrorKind::bad_input, "a saved partial result has statistics that no values have");
}

/// Appends the nodes of a tree, each by append(node).
template <class Tree, class Append>
void save_tree(const Tree& tree, std::vector<std::byte>& out, Append append) {
  std::vector<const typename Tree::Placed*> nodes;
  for (const auto& placed : tree.nodes()) nodes.push_back(&placed);
  std::ranges::sort(nodes, {}, [](const auto* node) { return node->first_tile(); });
  append_bytes(out, std::uint64_t{nodes.size()});
  for (const auto* placed : nodes) {
    append_bytes(out, std::uint64_t{placed->level});
    append_bytes(out, placed->index);
    append(placed->node);
  }
}

/// Restores the nodes of a tree over tiles of `tile_records`, each by take(), from `node_bytes`
/// bytes. Throws Error(bad_input) for tiles that cannot be there.
template <class Tree, class Take>
void load_tree(ByteReader& bytes, std::size_t tile_records, std::size_t node_bytes, Tree& tree,
               Take take) {
  const std::size_t count = bytes.take_count(node_bytes);
  std::uint64_t end = 0;  // end of the tiles read so far
  for (std::size_t i = 0; i < count; ++i) {
    const auto level = bytes.take<std::uint64_t>();
    const auto index = bytes.take<std::uint64_t>();
    auto node = take();
    const std::uint64_t most_tiles = ~std::uint64_t{0} / tile_records;
    const bool is_there = level < 48 && index <= most_tiles >> level && index << level >= end;
    const std::uint64_t most = is_there ? std::uint64_t{tile_records} << level : 0;
    const std::uint64_t records = records_of(node);
    // Only the last tile of a dataset may be short.
    const bool is_last = i + 1 == count;
    if (records > most || records + tile_records <= most || (records != most && !is_last)) {
      throw Error(ErrorKind::bad_input, "a saved partial result has tiles that are not there");
    }
    end = (index + 1) << level;
    tree.insert({static_cast<unsigned>(level), index, std::move(node)});
  }
}

/// Returns the number of records of all nodes.
template <class Tree>
std::uint64_t records_in_tree(const Tree& tree) {
  std::uint64_t count = 0;
  for (const auto& placed : tree.nodes()) count += records_of(placed.node);
  return count;
}

/// Returns the level and the index of each node.
template <class Tree>
std::vector<std::pair<std::uint64_t, std::uint64_t>> places_in_tree(const Tree& tree) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (const auto& placed : tree.nodes()) places.emplace_back(placed.level, placed.index);
  return places;
}

}  // namespace ooc::detail::reduction
