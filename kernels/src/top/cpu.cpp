#include "histogram/blocks.hpp"
#include "top/finder.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace ooc::detail::tops {

namespace {

using binning::block_elements;

/// The best rank of a block, and the number of NaN.
template <class T>
struct BlockLook {
  Rank<T> least = std::numeric_limits<Rank<T>>::max();
  Rank<T> nan = 0;
};

/// Which elements of a block are as good as a limit, as bytes of 0 or 1.
using Marks = std::array<std::uint8_t, block_elements>;

template <class T>
[[gnu::always_inline]] inline BlockLook<T> look_at(const T* values, const Ranking<T>& given) {
  const Ranking<T> ranking = given;
  BlockLook<T> look;
  for (std::size_t i = 0; i < block_elements; ++i) {
    const Rank<T> rank = ranking.of(values[i]);
    look.least = rank < look.least ? rank : look.least;
    if constexpr (is_floating<T>) {
      look.nan = static_cast<Rank<T>>(look.nan + (rank > ranking.last ? 1 : 0));
    }
  }
  return look;
}

template <class T>
[[gnu::always_inline]] inline void mark_in(const T* __restrict values, const Ranking<T>& given,
                                           Rank<T> limit, std::uint8_t* __restrict marks) {
  const Ranking<T> ranking = given;
  for (std::size_t i = 0; i < block_elements; ++i) {
    marks[i] = ranking.of(values[i]) <= limit ? 1 : 0;
  }
}

#define OOC_TOP_AVX512 \
  "avx2,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512"

template <class T>
BlockLook<T> look_at_sse2(const T* values, const Ranking<T>& ranking) {
  return look_at(values, ranking);
}
template <class T>
[[gnu::target("avx2,f16c")]] BlockLook<T> look_at_avx2(const T* values, const Ranking<T>& ranking) {
  return look_at(values, ranking);
}
template <class T>
[[gnu::target(OOC_TOP_AVX512)]] BlockLook<T> look_at_avx512(const T* values,
                                                            const Ranking<T>& ranking) {
  return look_at(values, ranking);
}

template <class T>
void mark_sse2(const T* values, const Ranking<T>& ranking, Rank<T> limit, std::uint8_t* marks) {
  mark_in(values, ranking, limit, marks);
}
template <class T>
[[gnu::target("avx2,f16c")]] void mark_avx2(const T* values, const Ranking<T>& ranking,
                                            Rank<T> limit, std::uint8_t* marks) {
  mark_in(values, ranking, limit, marks);
}
template <class T>
[[gnu::target(OOC_TOP_AVX512)]] void mark_avx512(const T* values, const Ranking<T>& ranking,
                                                 Rank<T> limit, std::uint8_t* marks) {
  mark_in(values, ranking, limit, marks);
}

#undef OOC_TOP_AVX512

template <class T>
class CpuTopFinder final : public Finder {
 public:
  CpuTopFinder(const Wanted& wanted, Simd simd)
      : ranking_(wanted.smallest),
        k_(wanted.k),
        look_at_(binning::for_level(simd, look_at_sse2<T>, look_at_avx2<T>, look_at_avx512<T>)),
        mark_(binning::for_level(simd, mark_sse2<T>, mark_avx2<T>, mark_avx512<T>)),
        worst_{ranking_.last, std::numeric_limits<std::uint64_t>::max()} {
    candidates_.reserve(cpu_room(k_));
  }

  void look(Stream& /*stream*/, DeviceSpan<const std::byte> data, std::uint64_t first) override {
    const auto* const values = binning::elements<T>(data);
    const std::size_t count = data.size / sizeof(T);
    const std::size_t whole = count - count % block_elements;
    for (std::size_t i = 0; i < whole; i += block_elements) {
      const BlockLook<T> seen = look_at_(values + i, ranking_);
      nan_ += seen.nan;
      if (Candidate{seen.least, first + i}.is_better_than(worst_))
        take_block(values + i, first + i);
    }
    for (std::size_t i = whole; i < count; ++i) {
      const Rank<T> rank = ranking_.of(values[i]);
      nan_ += rank > ranking_.last ? 1 : 0;
      take({rank, first + i});
    }
  }

  Kept finish(Stream& /*stream*/) override {
    keep_best(candidates_, k_);
    return {std::exchange(candidates_, {}), nan_};
  }

 private:
  /// Takes the elements of a block that are good enough: few of them, except at the beginning.
  void take_block(const T* values, std::uint64_t first) {
    Marks marks;
    mark_(values, ranking_, static_cast<Rank<T>>(worst_.rank), marks.data());
    for (std::size_t i = 0; i < block_elements; i += sizeof(std::uint64_t)) {
      std::uint64_t some = 0;
      std::memcpy(&some, marks.data() + i, sizeof(some));
      for (; some != 0; some &= some - 1) {
        const std::size_t at = i + static_cast<std::size_t>(__builtin_ctzll(some)) / 8;
        take({ranking_.of(values[at]), first + at});
      }
    }
  }

  void take(const Candidate& candidate) {
    if (!candidate.is_better_than(worst_)) return;
    candidates_.push_back(candidate);
    if (candidates_.size() < cpu_room(k_)) return;
    keep_best(candidates_, k_);
    worst_ = candidates_.back();
  }

  Ranking<T> ranking_;
  std::size_t k_;
  BlockLook<T> (*look_at_)(const T*, const Ranking<T>&);
  void (*mark_)(const T*, const Ranking<T>&, Rank<T>, std::uint8_t*);
  std::vector<Candidate> candidates_{};
  Candidate worst_;  // a candidate that is not better is none of the best k
  std::uint64_t nan_ = 0;
};

}  // namespace

std::unique_ptr<Finder> make_cpu_finder(ElementType type, const Wanted& wanted, Simd simd) {
  return visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Finder> {
    return std::make_unique<CpuTopFinder<T>>(wanted, simd);
  });
}

}  // namespace ooc::detail::tops
