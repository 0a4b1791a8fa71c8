#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/partials/operator_settings.hpp>
#include <ooc/detail/partials/partial_functions.hpp>
#include <ooc/detail/partials/tile_tree.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace ooc::detail {

/// Lets threads work on consecutive partitions one after another.
class OOC_API PartitionOrder {
 public:
  PartitionOrder();
  ~PartitionOrder();

  /// Blocks until all partitions before `partition` are through. Throws if the pass has failed.
  void wait_for(std::size_t partition);
  void through(std::size_t partition) noexcept;
  void abort() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns the error for partials that find no more memory.
OOC_API Error too_many_partials(const Error& error);

/// The partial results of an operator during a pass.
template <class Op>
class Partials {
 public:
  using Partial = typename Op::Partial;

  Partials(const Op& op, const DeviceFacts& device, std::size_t record_bytes)
      : op_(op), partition_(partition_of<Op>(device, record_bytes)) {
    require_known_functions<Op>();
    constexpr Fit reset = fit_of<CallReset, Op, Stream&, Changed<Partial>>();
    static_assert(reset == Fit::right || (reset == Fit::none && !requires { &Op::reset; }),
                  "reset() of an operator is `void reset(ooc::Stream&, Partial& partial) const`");
    static_assert(merge_of<Op>() != Merge::by_place ||
                      !std::is_invocable_v<CallMerge, const Op&, Partial&, Partial&&>,
                  "merge() of an operator with Merge::by_place is `void merge(Partial& total, "
                  "Partial& part) const`: it removes from the part what it has merged");
  }

  /// Records of a partition.
  std::size_t partition() const noexcept { return partition_; }

  /// Sets the first record of the pass, which is a multiple of the partition; 0 by default.
  void begin_at(std::uint64_t record) noexcept { first_partition_ = record / partition_; }

  /// Must be called before all functions below.
  void prepare(std::size_t lanes) { lanes_ = std::vector<Lane>(lanes); }

  /// Called on the lane's thread, before its first step.
  void begin(std::size_t index, Stream& stream) {
    if constexpr (!cuts) lanes_[index].partials.push_back(make_partial(op_, stream));
  }

  /// Calls body(offset, count, partial) for the records of a step, which begins at record `first`:
  /// once for all of them, or once for each partition.
  template <class Body>
  void consume(std::size_t index, Stream& stream, std::uint64_t first, std::size_t size,
               Body&& body) {
    std::vector<Partial>& partials = lanes_[index].partials;
    if constexpr (cuts) {
      partials.reserve(size / partition_ + 1);  // work that is enqueued may refer to them
      for (std::size_t offset = 0; offset < size; offset += partition_) {
        partials.push_back(fresh(index, stream));
        body(offset, std::min(partition_, size - offset), partials.back());
      }
      finish_partials(op_, stream, partials);
      take_in(first / partition_, index);
    } else {
      body(std::size_t{0}, size, partials.front());
      if constexpr (merge_of<Op>() == Merge::by_place) {
        const std::scoped_lock lock(mutex_);
        merge(total_, partials.front());
      }
    }
  }

  /// Called on the lane's thread, after its last step.
  void end(std::size_t index, Stream& stream) {
    if constexpr (!cuts) finish_partials(op_, stream, lanes_[index].partials);
  }

  /// Wakes lanes that wait for their turn to merge. Any thread.
  void abort() noexcept {
    if constexpr (merge_of<Op>() == Merge::in_order) order_.abort();
  }

  /// Returns the total. Called after all lanes have ended.
  Partial take() {
    if constexpr (merge_of<Op>() == Merge::by_partition) {
      std::optional<Node> root = tree_.take_root();
      return root ? std::move(root->partial) : Partial{};
    } else {
      for (Lane& lane : lanes_) {
        for (Partial& partial : lane.partials) merge(total_, partial);
      }
      return std::move(total_);
    }
  }

  /// Calls visit(level, index, partial), in the order of the data, for the nodes of the tree
  /// instead of merging them to the total. In other orders of merging, the total is the only node.
  template <class Visit>
  void take_nodes(Visit&& visit) {
    if constexpr (merge_of<Op>() == Merge::by_partition) {
      for (auto& [level, index, node] : tree_.take_nodes()) {
        visit(level, index, std::move(node.partial));
      }
    } else {
      visit(0u, std::uint64_t{0}, take());
    }
  }

 private:
  static constexpr bool cuts =
      merge_of<Op>() == Merge::by_partition || merge_of<Op>() == Merge::in_order;

  struct Node {
    Partial partial;
    std::size_t lane;  // which made it
  };

  /// Joins two neighbours in the tree, and gives the right partial back to its lane.
  struct MergeNodes {
    Partials* self;
    void operator()(Node& left, Node& right) const {
      try {
        self->merge(left.partial, right.partial);
      } catch (...) {
        self->give_back(std::move(left.partial), left.lane);
        self->give_back(std::move(right.partial), right.lane);
        throw;
      }
      self->give_back(std::move(right.partial), right.lane);
    }
  };

  struct alignas(128) Lane {  // apart, so that lanes do not share cache lines
    std::vector<Partial> partials;
    std::vector<Partial> merged;  // to be used again or freed by this lane; under the mutex
  };

  /// A partial that was used before and reset, or a new one.
  Partial fresh(std::size_t index, Stream& stream) {
    std::optional<Partial> used = take_back(index);
    if constexpr (can_reset<Op>) {
      if (used) {
        reset_partial(op_, stream, *used);
        return std::move(*used);
      }
    }
    used.reset();
    try {
      return make_partial(op_, stream);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory) throw;
      throw too_many_partials(error);
    }
  }

  std::optional<Partial> take_back(std::size_t index) {
    std::optional<Partial> used;
    if constexpr (!std::is_trivially_destructible_v<Partial>) {
      const std::scoped_lock lock(mutex_);
      std::vector<Partial>& merged = lanes_[index].merged;
      if (merged.empty()) return used;
      used = std::move(merged.back());
      merged.pop_back();
    }
    return used;
  }

  /// Returns a used partial to its lane, because its memory may come from the temporaries of the
  /// lane's stream, which only that lane may use. Called under the mutex.
  void give_back(Partial partial, std::size_t lane) {
    if constexpr (!std::is_trivially_destructible_v<Partial>) {
      lanes_[lane].merged.push_back(std::move(partial));
    }
  }

  void merge(Partial& total, Partial& part) const { merge_partials(op_, total, part); }

  /// Merges the partials of a lane, which are of consecutive partitions.
  void take_in(std::size_t partition, std::size_t index) {
    for (Partial& partial : lanes_[index].partials) {
      if constexpr (merge_of<Op>() == Merge::in_order) {
        order_.wait_for(partition - first_partition_);
        merge(total_, partial);
        const std::scoped_lock lock(mutex_);
        give_back(std::move(partial), index);
        order_.through(partition - first_partition_);
      } else {
        const std::scoped_lock lock(mutex_);
        tree_.add(partition, Node{std::move(partial), index});
      }
      ++partition;
    }
    lanes_[index].partials.clear();
  }

  const Op& op_;
  std::size_t partition_;
  std::uint64_t first_partition_ = 0;  // of the pass
  std::vector<Lane> lanes_;
  std::mutex mutex_;
  TileTree<Node, MergeNodes> tree_{MergeNodes{this}};
  PartitionOrder order_;
  Partial total_{};
};

}  // namespace ooc::detail
