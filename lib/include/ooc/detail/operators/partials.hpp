#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/operators/tile_tree.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace ooc {

/// The order in which the partial results of a fold are merged. An operator sets it by
/// `static constexpr ooc::Merge merge_order = ...`.
enum class Merge {
  /// One partial for each partition of the data, merged in a fixed tree by their place. The result
  /// has the same bits whatever the size of chunks, the number of streams and the state of the page
  /// cache, also if merge() rounds. The default.
  by_partition,

  /// One partial for each stream, which consumes any of the data. Suits results that do not depend
  /// on the order (counts, integers, extremes) and large partials.
  unordered,

  /// As `unordered`, but each partial is merged into the total after every step: merge(total, part)
  /// removes from `part` what it has merged. Suits partials that keep results by their place (see
  /// TileTree) and would otherwise grow with the data.
  by_place,

  /// One partial for each partition, merged in the order of the data; streams wait for their turn.
  /// Suits merges that are not associative.
  in_order,
};

namespace detail {

template <class Op>
constexpr Merge merge_of() {
  if constexpr (requires { Op::merge_order; }) {
    return Op::merge_order;
  } else {
    return Merge::by_partition;
  }
}

template <class Op>
constexpr bool has_same_bits_everywhere() {
  if constexpr (requires { Op::same_bits_everywhere; }) {
    return Op::same_bits_everywhere;
  } else {
    return false;
  }
}

inline constexpr std::size_t cpu_partition_bytes = std::size_t{1} << 20;
inline constexpr std::size_t gpu_partition_bytes = std::size_t{8} << 20;

/// Number of records of the largest power of two that is at most `bytes`, and at least one.
constexpr std::size_t records_in(std::size_t bytes, std::size_t record_bytes) {
  return std::bit_floor(std::max<std::size_t>(bytes / record_bytes, 1));
}

/// Records of a partition for operators whose results do not depend on it.
constexpr std::size_t partition_of_streams(std::size_t record_bytes) {
  constexpr std::size_t most = 65536;
  return std::min(records_in(cpu_partition_bytes, record_bytes), most);
}

/// Records of a partition of an operator, a power of two. On the CPU a partition fits a core's
/// cache. On a GPU it is large enough for operators that wait for each result.
template <class Op>
constexpr std::size_t partition_of(const DeviceFacts& device, std::size_t record_bytes) {
  if constexpr (requires { Op::partition_records; }) {
    static_assert(std::has_single_bit(std::size_t{Op::partition_records}),
                  "partition_records must be a power of two");
    return Op::partition_records;
  } else if constexpr (merge_of<Op>() == Merge::unordered || merge_of<Op>() == Merge::by_place) {
    return partition_of_streams(record_bytes);
  } else {
    const bool is_small = device.uses_host_cores || has_same_bits_everywhere<Op>();
    return records_in(is_small ? cpu_partition_bytes : gpu_partition_bytes, record_bytes);
  }
}

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

/// An operator whose own merge() joins two partials.
template <class Op>
concept HasMerge = requires(Op& op, typename Op::Partial& partial) {
  op.merge(partial, partial);
};

/// An operator with a merge() of its own, or with partials that bring one, as DeviceSums does.
template <class Op>
concept Merges = HasMerge<Op> || requires(typename Op::Partial& partial) {
  partial.merge(partial);
};

/// Merges a partial into the one on its left, by the operator's function or that of the partials.
template <class Op>
void merge_partials(const Op& op, typename Op::Partial& left, typename Op::Partial& right) {
  if constexpr (HasMerge<const Op>) {
    op.merge(left, right);
  } else {
    left.merge(right);
  }
}

/// Returns the result of an operator: its result() of the total, or the total itself. Throws what
/// its check() of the total throws, if it has that.
template <class Op>
auto result_of(const Op& op, typename Op::Partial total) {
  if constexpr (requires { op.check(std::as_const(total)); }) op.check(std::as_const(total));
  if constexpr (requires { op.result(std::move(total)); }) {
    return op.result(std::move(total));
  } else {
    return total;
  }
}

template <class Op>
using ResultOf = decltype(result_of(std::declval<const Op&>(), typename Op::Partial{}));

/// The partial results of an operator during a pass.
template <class Op>
class Partials {
 public:
  using Partial = typename Op::Partial;

  Partials(const Op& op, const DeviceFacts& device, std::size_t record_bytes)
      : op_(op), partition_(partition_of<Op>(device, record_bytes)) {
    static_assert(!HasMerge<Op> || HasMerge<const Op>, "merge() of an operator must be const");
    static_assert(!has_reset<Op> || has_reset<const Op>, "reset() of an operator must be const");
    static_assert(!has_finish<Op> || has_finish<const Op>, "finish() of an operator must be const");
    static_assert(!has_make_partial<Op> || has_make_partial<const Op>,
                  "make_partial() of an operator must be const");
  }

  /// Records of a partition.
  std::size_t partition() const noexcept { return partition_; }

  /// The first record of the pass, which is a multiple of the partition; 0 by default.
  void begin_at(std::uint64_t record) noexcept { first_partition_ = record / partition_; }

  /// Before all others below.
  void prepare(std::size_t lanes) { lanes_ = std::vector<Lane>(lanes); }

  /// On the lane's thread, before its first step.
  void begin(std::size_t index, Stream& stream) {
    if constexpr (!cuts) lanes_[index].partials.push_back(make(stream));
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
      finish(stream, partials);
      take_in(first / partition_, index);
    } else {
      body(std::size_t{0}, size, partials.front());
      if constexpr (merge_of<Op>() == Merge::by_place) {
        const std::scoped_lock lock(mutex_);
        merge(total_, partials.front());
      }
    }
  }

  /// On the lane's thread, after its last step.
  void end(std::size_t index, Stream& stream) {
    if constexpr (!cuts) finish(stream, lanes_[index].partials);
  }

  /// Wakes lanes that wait for their turn to merge. Any thread.
  void abort() noexcept {
    if constexpr (merge_of<Op>() == Merge::in_order) order_.abort();
  }

  /// The total. After all lanes have ended.
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

  /// Instead of the total, what it is made of: calls visit(level, index, partial) for the nodes of
  /// the tree, in the order of the data. With other orders there is one, the total.
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
  template <class T>
  static constexpr bool has_reset = requires(T& op, Stream& stream, Partial& partial) {
    op.reset(stream, partial);
  };
  template <class T>
  static constexpr bool has_finish = requires(T& op, Stream& stream, std::span<Partial> all) {
    op.finish(stream, all);
  };
  template <class T>
  static constexpr bool has_make_partial = requires(T& op, Stream& stream) {
    op.make_partial(stream);
  };

  // Functions that the partials bring; the operator's own come before.
  static constexpr bool resets_itself = requires(Stream & stream, Partial& partial) {
    partial.reset(stream);
  };
  static constexpr bool finishes_itself = requires(Stream & stream, std::span<Partial> all) {
    Partial::finish(stream, all);
  };

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

  Partial make(Stream& stream) const {
    if constexpr (has_make_partial<const Op>) {
      return op_.make_partial(stream);
    } else {
      return Partial{};
    }
  }

  /// A partial that was used before and reset, or a new one.
  Partial fresh(std::size_t index, Stream& stream) {
    std::optional<Partial> used = take_back(index);
    if constexpr (has_reset<const Op> || resets_itself) {
      if (used) {
        reset(stream, *used);
        return std::move(*used);
      }
    }
    used.reset();
    try {
      return make(stream);
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

  /// Memory of a partial may be of the temporaries of its lane's stream, which only that lane may
  /// use. Under the mutex.
  void give_back(Partial partial, std::size_t lane) {
    if constexpr (!std::is_trivially_destructible_v<Partial>) {
      lanes_[lane].merged.push_back(std::move(partial));
    }
  }

  void reset(Stream& stream, Partial& partial) const {
    if constexpr (has_reset<const Op>) {
      op_.reset(stream, partial);
    } else {
      partial.reset(stream);
    }
  }

  void finish(Stream& stream, std::span<Partial> partials) const {
    if constexpr (has_finish<const Op>) {
      op_.finish(stream, partials);
    } else if constexpr (finishes_itself) {
      Partial::finish(stream, partials);
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

}  // namespace detail
}  // namespace ooc
