#pragma once

#include <ooc/io/language.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ooc {

/// Combines one node for each tile of a dataset in a binary tree over the tile numbers: tiles 2i
/// and 2i + 1 meet in node i of level 1, and so on. Which nodes meet depends on their place alone,
/// so the result has the same bits in whatever order, and through however many trees, the tiles
/// came. A node is merged as soon as its sibling is there: what is kept is O(log tiles + gaps).
///
/// `Node` has `void merge_right(const Node& right)`: joins the node with its right neighbour.
template <class Node>
class TileTree {
 public:
  TileTree() { nodes_.reserve(64); }

  bool empty() const noexcept { return nodes_.empty(); }
  void clear() noexcept { nodes_.clear(); }

  /// Adds the node of one tile. Each tile once.
  void add(std::uint64_t tile, Node node) { insert({0, tile, std::move(node)}); }

  /// Moves all nodes of `other` here.
  void absorb(TileTree& other) {
    for (Placed& placed : other.nodes_) insert(std::move(placed));
    other.clear();
  }

  /// The root, or nothing for no tiles. Tiles missing at the end are neutral; the others must all
  /// be there.
  std::optional<Node> root() const {
    if (nodes_.empty()) return {};
    std::vector<Placed> left_to_right = nodes_;
    std::ranges::sort(left_to_right, {}, &Placed::first_tile);
    // The tree hangs to the left: every node but the last is the left child of an ancestor whose
    // right child covers all that follows.
    Node root = std::move(left_to_right.back().node);
    for (std::size_t i = left_to_right.size() - 1; i-- > 0;) {
      Node left = std::move(left_to_right[i].node);
      left.merge_right(root);
      root = std::move(left);
    }
    return root;
  }

 private:
  struct Placed {
    unsigned level;
    std::uint64_t index;  // within the level
    Node node;

    std::uint64_t first_tile() const { return index << level; }
  };

  void insert(Placed placed) {
    for (;;) {
      const auto sibling = std::ranges::find_if(nodes_, [&](const Placed& other) {
        return other.level == placed.level && other.index == (placed.index ^ 1);
      });
      if (sibling == nodes_.end()) break;
      if (placed.index & 1) std::swap(*sibling, placed);
      placed.node.merge_right(sibling->node);
      ++placed.level;
      placed.index >>= 1;
      if (sibling != nodes_.end() - 1) *sibling = std::move(nodes_.back());
      nodes_.pop_back();
    }
    nodes_.push_back(std::move(placed));
  }

  std::vector<Placed> nodes_;
};

}  // namespace ooc
