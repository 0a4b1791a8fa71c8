#include "parts/bin_rounds.hpp"

#include <ooc/error.hpp>
#include <utility>

namespace ooc_run {

ooc::HistogramOptions BinRounds::planned() const {
  ooc::HistogramOptions planned{.range = {{0, 1}}};
  if (!asked_.bins.rule()) planned.bins = asked_.bins;
  return planned;
}

void BinRounds::require_range(ooc::ElementType type, bool is_empty) const {
  if (rounds(type) > 2) {
    throw ooc::Error(
        ooc::ErrorKind::usage, "shards do not look for the quartiles of a rule",
        {.hint = "give a number of bins, or another rule; ooc-run quantile has shards"});
  }
  if (rounds(type) > 1 && is_empty) {
    throw ooc::Error(ooc::ErrorKind::usage, "no data have no range for bins",
                     {.hint = "give it: --range LO:HI, and a number of bins"});
  }
}

void BinRounds::take(ooc::ElementType type, std::span<const std::byte> found,
                     std::uint64_t records) {
  auto bins = ooc::load_bins(type, asked_, found);
  if (bins.records() != records) {
    throw ooc::Error(ooc::ErrorKind::bad_input, "its bins are of other data");
  }
  chosen_ = std::move(bins).result();
  bins_ = chosen_->options;
}

void BinRounds::require_unchanged(const ooc::Histogram& histogram) const {
  if (chosen_) ooc::require_unchanged(*chosen_, histogram);
}

void BinRounds::merge(ooc::ElementType type, const ooc::PartFile& file) {
  merged_.add(file, [&](const auto& saved) { return ooc::load_bins(type, asked_, saved); });
}

}  // namespace ooc_run
