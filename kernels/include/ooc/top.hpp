#pragma once

#include <ooc/collect.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/reduce.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ooc {

inline constexpr std::uint64_t max_top = std::uint64_t{1} << 24;  ///< most values of top()

/// Options of top().
struct TopOptions {
  std::uint64_t k = 10;   ///< how many values to find, 1 to max_top
  bool smallest = false;  ///< the smallest ones, not the largest
};

/// One value of the result of top().
struct TopValue {
  Scalar value{};           ///< the element: an exact integer, or its value as a double
  std::uint64_t index = 0;  ///< its index in the dataset
};

/// The result of top().
struct Top {
  std::vector<TopValue> values;  ///< the best one first; of equal ones, that of the lowest index
  std::uint64_t count = 0;       ///< all elements
  std::uint64_t nan = 0;         ///< elements that are NaN, which are left out
};

/// Finds the largest or smallest elements and their indices, in one pass, for every element type,
/// as `nlargest(k, keep="first")` of pandas does. The order of values is that of numbers, with -0
/// before +0. If there are fewer than k elements that are not NaN, it finds all of them. The result
/// is the same for any chunk size, number of streams, engine and device.
///
///     const auto [found, stats] = ooc::top(coordinator, source, {.k = 3});
///     for (const auto& [value, index] : found.values) std::cout << to_string(value) << '\n';
///
/// A stream needs some 32 bytes of memory for each of the k values, and the result needs 80. Data
/// in Fortran order (Format::by_columns) have the indices of the order of the file.
///
/// Throws Error(usage) for an invalid k; and as fold() does.
[[nodiscard]] OOC_API Result<Top> top(Coordinator& coordinator, const Source& source,
                                      const TopOptions& options = {},
                                      const PassOptions& wanted = {});

/// Returns the plan of top() for these arguments: how it would read and why, and the number of
/// bytes. Throws the errors that top() would throw before it reads.
OOC_API Stats dry_run_top(const Options& machine, DeviceKind device, const Source& source,
                          const TopOptions& options = {}, const PassOptions& wanted = {});

/// Computes top() of a section of a source, or of a whole one, as a PartialResult (see collect()).
/// Throws Error(usage) for an invalid k; and as collect() does.
[[nodiscard]] OOC_API Result<PartialResult<Top>> collect_top(Coordinator& coordinator,
                                                             const Source& section,
                                                             const TopOptions& options = {},
                                                             const PassOptions& wanted = {});

/// Restores such a part from the bytes of PartialResult::save(). Throws Error(usage) for an invalid
/// k; and as load_part() does.
[[nodiscard]] OOC_API PartialResult<Top> load_top(ElementType type, const TopOptions& options,
                                                  std::span<const std::byte> saved);

/// Verifies a result of top() on a whole source, given the same options. Reads the source once
/// more, through the page cache and on the CPU, compares the elements found, counts those that are
/// not behind the last of them, and shares no other code with top(). Throws Error(verify), which
/// names the first difference; also as a pass does, and Error(interrupted) if it is stopped.
OOC_API void verify_top(Coordinator& coordinator, const Source& source, const TopOptions& options,
                        const Top& found, const PassOptions& wanted = {});

}  // namespace ooc
