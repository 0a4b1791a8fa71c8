#pragma once

#include <ooc/quantile.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "histogram/key_bins.hpp"

namespace ooc::detail::quantiles {

/// Throws Error(usage) for options that are invalid for any data.
void check(const QuantileOptions& options);

/// The bits of keys that passes count by: the most significant ones first.
struct Digits {
  std::uint32_t first, later;  // bits of the first pass and of each later one
  std::size_t passes;
  std::size_t most_bins;  // of any pass
};

/// Returns the digits for keys of so many bits. The passes are as few as possible if all wanted
/// elements are in different ranges and a pass has at most max_bins counters.
Digits digits_for(std::uint32_t bits, const QuantileOptions& options);

/// The search for elements by their rank, pass after pass. The first pass counts all elements by
/// the first bits of their keys. Each later one counts by the next bits, but only the keys that
/// begin as those of wanted elements do.
class Search {
 public:
  /// Throws Error(usage) for invalid options.
  Search(ElementType type, QuantileOptions options);

  ElementType type() const noexcept { return type_; }
  /// True if no pass is left.
  bool is_complete() const noexcept { return ranges_.firsts.empty(); }
  /// True if the next pass is the last one.
  bool is_last_pass() const noexcept { return ranges_.shift == 0; }
  /// Bins of the pass that has most.
  std::size_t most_bins() const noexcept { return digits_.most_bins; }
  /// The ranges in which the next pass counts.
  const binning::KeyRanges& ranges() const noexcept { return ranges_; }

  /// See QuantileSearch.
  void take(const QuantileCounts& counts);
  Quantiles result() const;

 private:
  /// A wanted element.
  struct Wanted {
    std::uint64_t rank;       // among all values
    std::uint64_t first_key;  // of the range that it is in; its key, when all bits are known
    std::uint64_t rank_in_range;
    std::uint64_t values_in_range;
  };

  bool has_result() const;
  void begin(const QuantileCounts& counts);
  void check_unchanged(const QuantileCounts& counts) const;
  void narrow(const QuantileCounts& counts);
  void next_ranges();
  Scalar element_at(std::uint64_t rank) const;

  ElementType type_;
  QuantileOptions options_;
  Digits digits_;
  binning::KeyRanges ranges_{};
  std::vector<Wanted> wanted_{};  // each once, by rank
  std::uint64_t count_ = 0;
  std::uint64_t nan_ = 0;
};

}  // namespace ooc::detail::quantiles
