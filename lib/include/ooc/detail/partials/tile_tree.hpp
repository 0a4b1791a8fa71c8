#pragma once

#include <ooc/detail/base/language.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ooc::detail {

/// Joins a node of a TileTree with its right neighbour by its own function.
struct MergeRight {
  /// Merges `right` into `left`.
  template <class Node>
  void operator()(Node& left, const Node& right) const {
    left.merge_right(right);
  }
};

/// Combines one node for each tile of a dataset in a binary tree over the tile numbers: tiles 2i
/// and 2i + 1 meet in node i of level 1, and so on. Which nodes meet depends on their place alone,
/// so the result has the same bits in whatever order, and through however many trees, the tiles
/// came. A node is merged as soon as its sibling is there: what is kept is O(log tiles + gaps).
///
/// `merge(left, right)` joins a node with its right neighbour, which is not used afterwards. By
/// default it is `left.merge_right(right)`.
template <class Node, class Merge = MergeRight>
class TileTree {
 public:
  /// `merge`: called as described above.
  explicit TileTree(Merge merge = {}) : merge_(merge) { nodes_.reserve(64); }

  /// A node and its place: it covers the tiles from `index << level` on, 1 << level of them.
  struct Placed {
    unsigned level;       ///< 0 for one tile, 1 for two, and so on
    std::uint64_t index;  ///< within the level
    Node node;            ///< made of these tiles

    std::uint64_t first_tile() const { return index << level; }  ///< index of a tile
  };

  /// True if no tile was added since the tree was made or emptied.
  bool empty() const noexcept { return nodes_.empty(); }
  /// Drops all nodes.
  void clear() noexcept { nodes_.clear(); }

  /// Adds the node of one tile, which must not have been added before.
  void add(std::uint64_t tile, Node node) { insert({0, tile, std::move(node)}); }

  /// Adds a node that another tree has made of its tiles. Quickest in the order of the tiles.
  void insert(Placed placed) {
    for (;;) {
      const auto sibling = std::ranges::find_if(nodes_, [&](const Placed& other) {
        return other.level == placed.level && other.index == (placed.index ^ 1);
      });
      if (sibling == nodes_.end()) break;
      if (placed.index & 1) std::swap(*sibling, placed);
      merge_(placed.node, sibling->node);
      ++placed.level;
      placed.index >>= 1;
      if (sibling != nodes_.end() - 1) *sibling = std::move(nodes_.back());
      nodes_.pop_back();
    }
    nodes_.push_back(std::move(placed));
  }

  /// Moves all nodes of `other` here.
  void absorb(TileTree& other) {
    for (Placed& placed : other.nodes_) insert(std::move(placed));
    other.clear();
  }

  /// Returns the nodes, in no particular order.
  std::span<const Placed> nodes() const noexcept { return nodes_; }

  /// Returns the nodes in the order of the tiles, and empties the tree.
  std::vector<Placed> take_nodes() {
    std::ranges::sort(nodes_, {}, &Placed::first_tile);
    return std::exchange(nodes_, {});
  }

  /// Returns the root, or nothing for no tiles, and empties the tree. Tiles missing at the end are
  /// neutral; the others must all be there.
  std::optional<Node> take_root() {
    if (nodes_.empty()) return {};
    std::ranges::sort(nodes_, {}, &Placed::first_tile);
    // The tree hangs to the left: every node but the last is the left child of an ancestor whose
    // right child covers all that follows.
    while (nodes_.size() > 1) {
      Node& right = nodes_.back().node;
      merge_(nodes_[nodes_.size() - 2].node, right);
      nodes_.pop_back();
    }
    Node root = std::move(nodes_.back().node);
    nodes_.clear();
    return root;
  }

 private:
  Merge merge_;
  std::vector<Placed> nodes_;
};

}  // namespace ooc::detail
