#pragma once

#include <cstddef>
#include <cstdint>
#include <ooc/dtype.hpp>
#include <ooc/histogram.hpp>
#include <optional>
#include <span>

#include "parts/merged.hpp"

namespace ooc_run {

/// The bins of a question. If they depend on the range of all data, the shards of a first round
/// find that.
class BinRounds {
 public:
  explicit BinRounds(ooc::HistogramOptions asked) : asked_(asked), bins_(std::move(asked)) {}

  /// Returns the bins that were asked for.
  const ooc::HistogramOptions& asked() const noexcept { return asked_; }
  /// Returns the bins of this round.
  const ooc::HistogramOptions& bins() const noexcept { return bins_; }
  std::size_t rounds(ooc::ElementType type) const { return ooc::histogram_passes(type, asked_); }
  /// True in a round that finds the range.
  bool choose_bins(ooc::ElementType type) const { return rounds(type) > 1 && !chosen_; }
  /// Returns bins for the plan of that round: their histogram reads the data once, and takes the
  /// memory of the second round.
  ooc::HistogramOptions planned() const;

  /// Throws Error(usage) for data that cannot be divided into shards.
  void require_range(ooc::ElementType type, bool is_empty) const;
  /// Takes the merged part of that round. Throws ooc::Error.
  void take(ooc::ElementType type, std::span<const std::byte> found, std::uint64_t records);
  /// Throws Error(input_changed) if a histogram is of other values than those of that round.
  void require_unchanged(const ooc::Histogram& histogram) const;

  // The parts of that round.
  void merge(ooc::ElementType type, const ooc::PartFile& file);
  void add_to(ooc::PartFile& file) const { merged_.add_to(file); }

 private:
  ooc::HistogramOptions asked_, bins_;
  std::optional<ooc::ChosenBins> chosen_{};  // empty in that round
  Merged<ooc::ChosenBins> merged_{};
};

}  // namespace ooc_run
