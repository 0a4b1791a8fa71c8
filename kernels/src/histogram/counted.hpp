#pragma once

#include <ooc/fold.hpp>
#include <ooc/histogram.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "histogram/count.hpp"

// The partials of operators that count elements in bins. They differ in the bins only.

namespace ooc::detail::binning {

/// Returns the partial of a lane.
OpaquePartial counted_by(std::unique_ptr<BinCounter> counter);

/// Counts so many elements in a lane's partial.
void count_in(OpaquePartial& partial, Stream& stream, DeviceSpan<const std::byte> data,
              std::size_t elements);

/// Copies the counts to the host.
void finish_counts(Stream& stream, std::span<OpaquePartial> partials);

/// Adds the counts of `part`, of so many counters, to those of `total`, and frees it.
void merge_counts(OpaquePartial& total, OpaquePartial& part, std::size_t counters);

/// Returns the counts of a total: of all bins, then below, above and NaN.
std::vector<std::uint64_t> counts_of(OpaquePartial total, std::size_t counters);

/// Returns the same of a total that stays; empty if it has counted nothing.
std::span<const std::uint64_t> counts_in(const OpaquePartial& total);

/// Returns the histogram that a total has counted in bins. Throws Error(internal) unless every
/// element is in one of the counters.
Histogram histogram_of(const Bins& bins, OpaquePartial total);

/// Returns the number of elements that a total has counted.
std::uint64_t elements_of(const OpaquePartial& total);

void save_counts(const OpaquePartial& total, std::vector<std::byte>& out);

/// Throws Error(bad_input) unless save_counts() has written the bytes for as many counters.
void load_counts(std::span<const std::byte> in, std::size_t counters, OpaquePartial& total);

/// Returns the number of bins and a hash of their edges, for the question of an operator.
std::string described(const Bins& bins);

}  // namespace ooc::detail::binning
