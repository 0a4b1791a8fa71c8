#pragma once

#include <ooc/collect.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/reduce.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ooc {

/// Most values that distinct() returns with their counts.
inline constexpr std::uint64_t max_distinct_counts = std::uint64_t{1} << 20;

/// The standard error of an estimate of distinct(), relative to the number: 1.04 / sqrt(2^14).
inline constexpr double distinct_relative_error = 0.008125;

/// Options of distinct().
struct DistinctOptions {
  std::uint64_t counts = 0;  ///< how many of the most frequent values to find; 0: count none
  bool estimate = false;     ///< only estimate their number, in little memory; without counts
};

/// A value, and the number of elements that have it.
struct DistinctValue {
  Scalar value{};           ///< an exact integer, or its value as a double; NaN for all NaN
  std::uint64_t count = 0;  ///< elements that are equal to it
};

/// The result of distinct().
struct Distinct {
  std::optional<std::uint64_t> distinct{};  ///< number of distinct values; empty if only estimated
  double estimate = 0;                      ///< an estimate of that number
  std::vector<DistinctValue> values{};      ///< most frequent first; of equal counts, the smaller
  std::uint64_t count = 0;                  ///< all elements
  std::uint64_t nan = 0;                    ///< elements that are NaN, which are one value
};

/// Counts the distinct values, in one pass, for every element type, as numpy.unique() does: all NaN
/// are one value, and -0 equals +0, which stands for both. With DistinctOptions::counts it also
/// finds the most frequent values; NaN comes behind all others that are as frequent. The result is
/// the same for any chunk size, number of streams, engine and device.
///
///     const auto [found, stats] = ooc::distinct(coordinator, source, {.counts = 3});
///     for (const auto& [value, count] : found.values) std::cout << to_string(value) << '\n';
///
/// Values of four and eight bytes are kept in a table, which takes 12 to 24 bytes for each, twice
/// as many with counts. It takes at most three quarters of Options::memory_bytes or, without that,
/// of half the available memory. Each stream of a GPU has a table of its own as well, in device
/// memory. On one device, without counts, checkpoints, parts and ranks, values are only counted:
/// those of four bytes in 512 MiB of its memory where a table might be larger (not of a stream),
/// and a GPU that has room does not move its tables to the host.
///
/// The number is also estimated, by HyperLogLog with 2^14 registers, which take 16 KiB. The hash of
/// a value is the output of SplitMix64 for its bits, zero-extended to 64; the register is the first
/// 14 bits of that. The estimator is that of Ertl (2017). A number that is more than six standard
/// errors away from its estimate is an Error(internal).
///
/// Throws Error(usage) for invalid options; `memory` if there are more values than there is memory
/// for, which names their estimated number; and as fold() does.
[[nodiscard]] OOC_API Result<Distinct> distinct(Coordinator& coordinator, const Source& source,
                                                const DistinctOptions& options = {},
                                                const PassOptions& wanted = {});

/// Returns the plan of distinct() for these arguments: how it would read and why, and the number of
/// bytes. `is_part`: that of collect_distinct(). Throws the errors that both would throw before
/// they read.
OOC_API Stats dry_run_distinct(const Options& machine, DeviceKind device, const Source& source,
                               const DistinctOptions& options = {}, const PassOptions& wanted = {},
                               bool is_part = false);

/// Returns the most memory that the values of distinct() may take (bytes), which is part of what
/// dry_run_distinct() plans; 0 for an estimate.
[[nodiscard]] OOC_API std::size_t distinct_table_bytes(const Options& machine, const Source& source,
                                                       const DistinctOptions& options = {},
                                                       const PassOptions& wanted = {});

/// Computes distinct() of a section of a source, or of a whole one, as a PartialResult (see
/// collect()), which has all values of the section: 8 bytes each, 16 with counts. Throws
/// Error(usage) for invalid options; and as collect() does.
[[nodiscard]] OOC_API Result<PartialResult<Distinct>> collect_distinct(
    Coordinator& coordinator, const Source& section, const DistinctOptions& options = {},
    const PassOptions& wanted = {});

/// Restores such a part from the bytes of PartialResult::save(). Throws Error(usage) for invalid
/// options; and as load_part() does.
[[nodiscard]] OOC_API PartialResult<Distinct> load_distinct(ElementType type,
                                                            const DistinctOptions& options,
                                                            std::span<const std::byte> saved);

/// Verifies a result of distinct() on a whole source, given the same options. Counts all values in
/// ordinary maps, through the page cache and on the CPU, and shares no other code with distinct().
/// It reads the source once more, or several times if the maps would take more memory than
/// Options::memory_bytes or, without that, a quarter of the available memory. An estimate may be
/// six standard errors away from the number. Throws Error(verify), which names the first
/// difference; also as a pass does, and Error(interrupted) if it is stopped.
OOC_API void verify_distinct(Coordinator& coordinator, const Source& source,
                             const DistinctOptions& options, const Distinct& found,
                             const PassOptions& wanted = {});

}  // namespace ooc
