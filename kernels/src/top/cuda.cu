#include <ooc/error.hpp>
#include <ooc/memory.hpp>

#include <cuda_runtime.h>
#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "top/finder.hpp"

namespace ooc::detail::tops {

namespace {

using Place = unsigned long long;  // the type that atomicAdd() takes
static_assert(sizeof(Place) == sizeof(std::uint64_t));

constexpr unsigned block_threads = 256;
constexpr std::size_t most_blocks = 4096;  // several waves on any GPU; the kernel strides

/// The state of a lane in device memory. Its candidates are in arrays of ranks and places.
struct LaneState {
  Place candidates;
  Place nan;
  Place worst_rank, worst_place;  // a candidate that is not better is none of the best k
};

/// Appends elements that are better than the worst of the best k. Threads of a warp that have one
/// at the same time add to the number of candidates once.
template <class T, class RankType>
__global__ void __launch_bounds__(block_threads)
    append_candidates(const T* data, std::size_t count, Place first, Ranking<T> ranking,
                      RankType* ranks, Place* places, LaneState* state) {
  const Place worst_rank = state->worst_rank, worst_place = state->worst_place;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned nan = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const RankType rank = ranking.of(data[i]);
    if (rank > ranking.last) ++nan;
    const Place place = first + i;
    if (rank > worst_rank || (rank == worst_rank && place >= worst_place)) continue;
    const unsigned together = __activemask();
    const unsigned lane = threadIdx.x % warpSize;
    const int leader = __ffs(static_cast<int>(together)) - 1;
    Place begin = 0;
    if (static_cast<int>(lane) == leader) {
      begin = atomicAdd(&state->candidates, Place{static_cast<unsigned>(__popc(together))});
    }
    begin = __shfl_sync(together, begin, leader);
    const Place at = begin + static_cast<unsigned>(__popc(together & ((1u << lane) - 1)));
    ranks[at] = rank;
    places[at] = place;
  }
  if constexpr (is_floating<T>) {
    if (nan != 0) atomicAdd(&state->nan, Place{nan});
  }
}

/// Keeps the first k of sorted candidates.
template <class RankType>
__global__ void keep_first(const RankType* ranks, const Place* places, std::size_t k,
                           LaneState* state) {
  state->candidates = k;
  state->worst_rank = ranks[k - 1];
  state->worst_place = places[k - 1];
}

/// An array in device memory, and another one to sort it to.
template <class Item>
struct TwoArrays {
  Buffer one, other;
  cub::DoubleBuffer<Item> both;

  TwoArrays(Stream& stream, std::size_t count)
      : one(stream.temporaries(), count * sizeof(Item)),
        other(stream.temporaries(), count * sizeof(Item)),
        both(one.as<Item>(), other.as<Item>()) {}
};

/// The candidates of a lane are elements that were better than the worst of the best k when a
/// kernel looked at them. It looks at no more elements at once than there is room for, since all of
/// them may be candidates, as those of ascending data are.
template <class T>
class CudaTopFinder final : public Finder {
 public:
  CudaTopFinder(const Wanted& wanted, Stream& stream)
      : ranking_(wanted.smallest),
        k_(wanted.k),
        room_(k_ + spare_room(k_, std::size_t{1} << 20)),
        ranks_(stream, room_),
        places_(stream, room_),
        state_(stream.temporaries(), sizeof(LaneState)) {
    const LaneState nothing{0, 0, ranking_.last, std::numeric_limits<Place>::max()};
    stream.copy(state_.data(), &nothing, sizeof(nothing));
    stream.synchronize();  // since `nothing` ends
  }

  void look(Stream& stream, DeviceSpan<const std::byte> data, std::uint64_t first) override {
    const auto* const values = reinterpret_cast<const T*>(data.data);
    const std::size_t count = data.size / sizeof(T);
    end_ = std::max<std::uint64_t>(end_, first + count);
    for (std::size_t done = 0; done < count;) {
      make_room(stream, std::min(count - done, (room_ - k_) / 2));
      const std::size_t some = std::min(count - done, room_ - most_);
      append(stream, values + done, some, first + done);
      done += some;
      most_ += some;
    }
  }

  Kept finish(Stream& stream) override {
    LaneState state{};
    stream.copy(&state, state_.data(), sizeof(state));
    stream.synchronize();
    std::vector<RankKey> ranks(state.candidates);
    std::vector<Place> places(state.candidates);
    stream.copy(ranks.data(), ranks_.both.Current(), ranks.size() * sizeof(RankKey));
    stream.copy(places.data(), places_.both.Current(), places.size() * sizeof(Place));
    stream.synchronize();
    Kept kept{.nan = state.nan};
    kept.best.reserve(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) kept.best.push_back({ranks[i], places[i]});
    keep_best(kept.best, k_);
    return kept;
  }

 private:
  using RankKey = binning::KeyOf<T>;  // 4 or 8 bytes

  void append(Stream& stream, const T* values, std::size_t count, std::uint64_t first) {
    const std::size_t needed = (count + block_threads - 1) / block_threads;
    const auto blocks = static_cast<unsigned>(std::min(needed, most_blocks));
    append_candidates<<<blocks, block_threads, 0, native(stream)>>>(
        values, count, Place{first}, ranking_, ranks_.both.Current(), places_.both.Current(),
        state_.as<LaneState>());
    stream.check_launch("the kernel of top");
  }

  /// Makes room for so many candidates, at most half of what there is besides the best k. So the
  /// next cut comes after at least as many.
  void make_room(Stream& stream, std::size_t wanted) {
    if (most_ + wanted <= room_) return;
    Place candidates = 0;
    stream.copy(&candidates, state_.data(), sizeof(candidates));  // the first member
    stream.synchronize();
    most_ = candidates;
    if (most_ + wanted <= room_) return;
    sort(stream);
    keep_first<<<1, 1, 0, native(stream)>>>(ranks_.both.Current(), places_.both.Current(), k_,
                                            state_.as<LaneState>());
    stream.check_launch("the kernel of top");
    most_ = k_;
  }

  /// Sorts all candidates, `most_` of them, by rank and then by place: the sorts are stable.
  void sort(Stream& stream) {
    sort_by(stream, places_.both, ranks_.both, static_cast<int>(std::bit_width(end_)));
    sort_by(stream, ranks_.both, places_.both, 8 * static_cast<int>(sizeof(T)));
  }

  template <class Key, class Value>
  void sort_by(Stream& stream, cub::DoubleBuffer<Key>& keys, cub::DoubleBuffer<Value>& values,
               int bits) {
    std::size_t bytes = 0;
    const auto call = [&](void* memory) {
      const cudaError_t status = cub::DeviceRadixSort::SortPairs(memory, bytes, keys, values, most_,
                                                                 0, bits, native(stream));
      if (status != cudaSuccess) {
        throw Error(ErrorKind::device,
                    std::string("the sort of top failed: ") + cudaGetErrorString(status));
      }
    };
    call(nullptr);
    const Buffer memory(stream.temporaries(), std::max<std::size_t>(bytes, 1));
    call(memory.data());
  }

  static cudaStream_t native(Stream& stream) { return static_cast<cudaStream_t>(stream.native()); }

  Ranking<T> ranking_;
  std::size_t k_;
  std::size_t room_;  // for candidates
  TwoArrays<RankKey> ranks_;
  TwoArrays<Place> places_;
  Buffer state_;
  std::size_t most_ = 0;   // there are no more candidates than these
  std::uint64_t end_ = 0;  // behind the last place
};

}  // namespace

std::unique_ptr<Finder> make_cuda_finder(ElementType type, const Wanted& wanted, Stream& stream) {
  return visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Finder> {
    return std::make_unique<CudaTopFinder<T>>(wanted, stream);
  });
}

}  // namespace ooc::detail::tops
