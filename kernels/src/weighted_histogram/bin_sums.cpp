#include "weighted_histogram/bin_sums.hpp"

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <type_traits>

#include "weighted_histogram/weights.hpp"

namespace ooc::detail::weighing {

namespace {

/// Returns the double that a sum with NaN or infinities is.
double non_finite_sum(std::uint32_t kinds) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (kinds == NonFinite::infinity) return infinity;
  if (kinds == NonFinite::negative_infinity) return -infinity;
  return std::numeric_limits<double>::quiet_NaN();  // also for infinities of both signs
}

template <class T>
Scalar sum_of(std::span<const std::int64_t> limbs) {
  if constexpr (is_floating<T>) {
    reduction::ExactSum sum;
    std::ranges::copy(limbs, sum.limbs.begin() + WeightFormat<T>::Reached::first);
    return sum.rounded();
  } else {
    int128 sum = 0;
    for (std::size_t i = limbs.size(); i-- > 0;) {
      sum = sum * (int128{1} << reduction::ExactSum::limb_bits) + limbs[i];
    }
    return sum;
  }
}

/// True if limbs are those that carry_limbs() leaves for so many weights. Each of these is smaller
/// than 1 in the highest limb.
bool are_sum_of(std::uint64_t count, std::span<const std::int64_t> limbs) {
  if (count > most_weights) return false;
  if (count == 0) return std::ranges::all_of(limbs, [](std::int64_t limb) { return limb == 0; });
  const auto is_digit = [](std::int64_t limb) {
    return limb >= 0 && limb <= std::numeric_limits<std::uint32_t>::max();
  };
  const auto most = static_cast<std::int64_t>(count);
  return std::ranges::all_of(limbs.first(limbs.size() - 1), is_digit) && limbs.back() < most &&
         limbs.back() >= -most;
}

}  // namespace

std::size_t limbs_of_sum(ElementType type) {
  return visit(
      type, []<class T>(std::type_identity<T>) -> std::size_t { return WeightFormat<T>::limbs; });
}

std::size_t bytes_of_sums(ElementType type, std::size_t counters) {
  return counters * (limbs_of_sum(type) * sizeof(std::int64_t) + sizeof(std::uint32_t));
}

void BinSums::merge(ElementType type, BinSums& other) {
  if (limbs.empty()) std::swap(*this, other);
  if (other.limbs.empty()) return;
  assert(limbs.size() == other.limbs.size());
  const std::size_t each = limbs_of_sum(type);
  for (std::size_t i = 0; i < non_finite.size(); ++i) {
    non_finite[i] |= other.non_finite[i];
    std::int64_t* const sum = limbs.data() + i * each;
    for (std::size_t j = 0; j < each; ++j) sum[j] += other.limbs[i * each + j];
    reduction::carry_limbs(sum, each);
  }
  other = {};
}

Scalar BinSums::sum(ElementType type, std::size_t counter) const {
  if (!limbs.empty() && non_finite[counter] != 0) return non_finite_sum(non_finite[counter]);
  return visit(type, [&]<class T>(std::type_identity<T>) {
    constexpr std::size_t each = WeightFormat<T>::limbs;
    return sum_of<T>(limbs.empty() ? std::span(limbs)
                                   : std::span(limbs).subspan(counter * each, each));
  });
}

void BinSums::save(std::vector<std::byte>& out) const {
  append_span(out, std::as_bytes(std::span(limbs)));
  append_span(out, std::as_bytes(std::span(non_finite)));
}

BinSums load_sums(std::span<const std::byte> in, ElementType type,
                  std::span<const std::uint64_t> counts) {
  const std::size_t counters = counts.size();
  const std::size_t each = limbs_of_sum(type);
  const auto refuse = [] {
    return Error(ErrorKind::bad_input, "a saved histogram has other sums than its bins");
  };
  if (in.size() != bytes_of_sums(type, counters)) throw refuse();
  BinSums sums{std::vector<std::int64_t>(counters * each), std::vector<std::uint32_t>(counters)};
  const std::size_t limb_bytes = sums.limbs.size() * sizeof(std::int64_t);
  std::memcpy(sums.limbs.data(), in.data(), limb_bytes);
  std::memcpy(sums.non_finite.data(), in.data() + limb_bytes, in.size() - limb_bytes);
  constexpr std::uint32_t all_kinds =
      NonFinite::nan | NonFinite::infinity | NonFinite::negative_infinity;
  const bool is_float = visit(type, []<class T>(std::type_identity<T>) { return is_floating<T>; });
  for (std::size_t i = 0; i < counters; ++i) {
    const auto limbs = std::span(sums.limbs).subspan(i * each, each);
    const bool has_kinds = sums.non_finite[i] <= (is_float && counts[i] != 0 ? all_kinds : 0);
    if (!has_kinds || !are_sum_of(counts[i], limbs)) throw refuse();
  }
  return sums;
}

}  // namespace ooc::detail::weighing
