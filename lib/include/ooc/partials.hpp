#pragma once

#include <ooc/device.hpp>
#include <ooc/io/error.hpp>
#include <ooc/tile_tree.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
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

/// Number of records of the largest power of two that is at most `bytes`, and at least one.
constexpr std::size_t records_in(std::size_t bytes, std::size_t record_bytes) {
  return std::bit_floor(std::max<std::size_t>(bytes / record_bytes, 1));
}

/// Records of a partition of an operator, a power of two. On the CPU a partition fits a core's
/// cache. On a GPU it is large enough for operators that wait for each result.
template <class Op>
constexpr std::size_t partition_of(const DeviceFacts& device, std::size_t record_bytes) {
  constexpr std::size_t cpu_bytes = std::size_t{1} << 20, gpu_bytes = std::size_t{8} << 20;
  constexpr std::size_t most_unordered = 65536;
  if constexpr (requires { Op::partition_records; }) {
    static_assert(std::has_single_bit(std::size_t{Op::partition_records}),
                  "partition_records must be a power of two");
    return Op::partition_records;
  } else if constexpr (merge_of<Op>() == Merge::unordered || merge_of<Op>() == Merge::by_place) {
    return std::min(records_in(cpu_bytes, record_bytes), most_unordered);
  } else {
    const bool is_small = device.uses_host_cores || has_same_bits_everywhere<Op>();
    return records_in(is_small ? cpu_bytes : gpu_bytes, record_bytes);
  }
}

/// Lets threads work on consecutive partitions one after another.
class PartitionOrder {
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

/// Counts the partials of a pass that exist, and refuses more than fit in an eighth of the device.
/// Any thread.
class PartialMemory {
 public:
  explicit PartialMemory(Device& device) : device_(device) {}

  /// Measures one partial: calls make(), unless that has been done, while no lane works.
  template <class Make>
  void measure(const Make& make) {
    const std::scoped_lock lock(mutex_);
    if (is_measured_) return;
    const std::size_t before = device_.device_memory().bytes_in_use();
    make();
    is_measured_ = true;
    set_bytes(device_.device_memory().bytes_in_use() - before);
  }

  /// Throws Error(usage) if there are too many.
  void add() {
    if (++count_ > most_) throw too_many();
  }
  void remove() noexcept { --count_; }

 private:
  void set_bytes(std::size_t bytes);
  Error too_many() const;

  Device& device_;
  std::mutex mutex_;
  bool is_measured_ = false;
  std::size_t bytes_ = 0;  // of a partial, on the device
  std::size_t most_ = std::numeric_limits<std::size_t>::max();
  std::atomic<std::size_t> count_{0};
};

/// The partial results of an operator during a pass.
template <class Op>
class Partials {
 public:
  using Partial = typename Op::Partial;

  Partials(const Op& op, std::size_t lanes, Device& device, std::size_t record_bytes)
      : op_(op),
        partition_(partition_of<Op>(device.facts(), record_bytes)),
        lanes_(lanes),
        memory_(device) {}

  /// Records of a partition.
  std::size_t partition() const noexcept { return partition_; }

  /// On the lane's thread, before its first step.
  void begin(std::size_t index, Stream& stream) {
    if constexpr (cuts) {
      memory_.measure([&] { keep(make(stream)); });
    } else {
      lanes_[index].partials.push_back(make(stream));
    }
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
        partials.push_back(fresh(stream));
        body(offset, std::min(partition_, size - offset), partials.back());
      }
      finish(stream, partials);
      take_in(first / partition_, partials);
    } else {
      body(std::size_t{0}, size, partials.front());
      if constexpr (merge_of<Op>() == Merge::by_place) {
        const std::scoped_lock lock(mutex_);
        op_.merge(total_, partials.front());
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
        for (Partial& partial : lane.partials) op_.merge(total_, partial);
      }
      return std::move(total_);
    }
  }

 private:
  static constexpr bool cuts =
      merge_of<Op>() == Merge::by_partition || merge_of<Op>() == Merge::in_order;

  struct Node {
    Partial partial;
  };

  /// Joins two neighbours in the tree, and keeps the right partial to be used again.
  struct MergeNodes {
    Partials* self;
    void operator()(Node& left, Node& right) const {
      self->op_.merge(left.partial, right.partial);
      self->keep(std::move(right.partial));
    }
  };

  struct alignas(128) Lane {  // apart, so that lanes do not share cache lines
    std::vector<Partial> partials;
  };

  Partial make(Stream& stream) {
    if constexpr (cuts) memory_.add();
    if constexpr (requires { op_.make_partial(stream); }) {
      return op_.make_partial(stream);
    } else {
      return Partial{};
    }
  }

  /// A partial that was used before and reset, or a new one.
  Partial fresh(Stream& stream) {
    if constexpr (requires(Partial & partial) { op_.reset(stream, partial); }) {
      std::unique_lock lock(mutex_);
      if (!kept_.empty()) {
        Partial partial = std::move(kept_.back());
        kept_.pop_back();
        lock.unlock();
        op_.reset(stream, partial);
        return partial;
      }
    }
    return make(stream);
  }

  /// Under the mutex.
  void keep(Partial partial) {
    if constexpr (requires(Stream & stream) { op_.reset(stream, partial); }) {
      kept_.push_back(std::move(partial));
    } else {
      memory_.remove();
    }
  }

  void finish(Stream& stream, std::span<Partial> partials) const {
    if constexpr (requires { op_.finish(stream, partials); }) op_.finish(stream, partials);
  }

  /// Merges the partials of consecutive partitions, which are empty then.
  void take_in(std::size_t partition, std::vector<Partial>& partials) {
    for (Partial& partial : partials) {
      if constexpr (merge_of<Op>() == Merge::in_order) {
        order_.wait_for(partition);
        op_.merge(total_, partial);
        const std::scoped_lock lock(mutex_);
        keep(std::move(partial));
        order_.through(partition);
      } else {
        const std::scoped_lock lock(mutex_);
        tree_.add(partition, Node{std::move(partial)});
      }
      ++partition;
    }
    partials.clear();
  }

  const Op& op_;
  std::size_t partition_;
  std::vector<Lane> lanes_;
  PartialMemory memory_;
  std::mutex mutex_;
  std::vector<Partial> kept_;  // to be used again
  TileTree<Node, MergeNodes> tree_{MergeNodes{this}};
  PartitionOrder order_;
  Partial total_{};
};

}  // namespace detail
}  // namespace ooc
