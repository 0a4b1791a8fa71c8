#pragma once

#include <ooc/detail/operators/passes.hpp>
#include <ooc/quantile.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "histogram/counted.hpp"
#include "histogram/search.hpp"

namespace ooc::detail::quantiles {

/// The operator of one pass of a Search: counts elements in ranges of keys.
template <IsElement T>
class CountKeys {
 public:
  using Input = T;
  using Partial = OpaquePartial;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr bool same_bits_everywhere = true;
  static constexpr std::string_view partial_name = "ooc.quantile/1";

  /// `most_bins`: of any pass. All request memory for so many, so that the first one fails if there
  /// is too little.
  CountKeys(const binning::KeyRanges& ranges, std::size_t most_bins)
      : ranges_(std::make_shared<const binning::KeyRanges>(ranges)), most_bins_(most_bins) {}

  Partial make_partial(Stream& stream) const {
    return binning::counted_by(stream.kind() == DeviceKind::cpu
                                   ? binning::make_cpu_counter(type, *ranges_, best_simd())
                                   : binning::make_cuda_counter(type, *ranges_, stream));
  }
  void consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const {
    binning::count_in(partial, stream,
                      {reinterpret_cast<const std::byte*>(in.data), in.size * sizeof(T)}, in.size);
  }
  void finish(Stream& stream, std::span<Partial> partials) const {
    binning::finish_counts(stream, partials);
  }
  void merge(Partial& total, Partial& part) const {
    binning::merge_counts(total, part, ranges_->counters());
  }
  /// Throws Error(internal) unless every element was counted once.
  QuantileCounts result(Partial total) const;

  std::string question() const;
  void save(const Partial& total, std::vector<std::byte>& out) const {
    binning::save_counts(total, out);
  }
  void load(std::span<const std::byte> in, Partial& total) const {
    binning::load_counts(in, ranges_->counters(), total);
  }
  std::uint64_t records_in(const Partial& total) const { return binning::elements_of(total); }
  HostBytes host_bytes() const { return binning::key_counting_bytes(type, most_bins_); }

 private:
  static constexpr ElementType type = element_type_of<T>();

  std::shared_ptr<const binning::KeyRanges> ranges_;  // shared by all copies and their counters
  std::size_t most_bins_;
};

/// Returns the operator of the next pass of a search.
template <class T>
CountKeys<T> next_pass(const Search& search) {
  return {search.ranges(), search.most_bins()};
}

/// Takes the counts of the first pass of a search, and makes all others by `fold`. Returns false if
/// one is stopped.
template <class T, class Fold>
bool find_all(Search& search, const Passes& passes, QuantileCounts counts, const Fold& fold) {
  while (!passes.is_stopped()) {
    search.take(counts);
    if (search.is_complete()) return true;
    std::tie(counts) = fold(std::tuple(next_pass<T>(search)));
  }
  return false;
}

}  // namespace ooc::detail::quantiles
