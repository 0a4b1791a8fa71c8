#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/parts/found.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ooc {

struct PartFile;

namespace detail {

/// Returns the bytes of a part in a file. Throws Error(bad_input) if there is no such part.
OOC_API std::span<const std::byte> saved_part(const PartFile& file, std::size_t index);

/// Throws Error(bad_input) unless the parts of the file cover these records.
OOC_API void require_covers(const PartFile& file, std::uint64_t records,
                            std::span<const RecordRange> ranges);

/// Adds a saved part. Throws Error(usage) unless it covers the same records as the parts
/// before.
OOC_API void add_part(PartFile& file, std::uint64_t records, std::span<const RecordRange> ranges,
                      std::vector<std::byte> saved);

/// Returns the findings of an operator that a file has. Throws as saved_part(), require_covers()
/// and load_found().
template <Savable Op>
Found<ResultOf<Op>> load_saved(const Op& op, const PartFile& file, std::size_t index) {
  auto found = load_found(op, saved_part(file, index));
  require_covers(file, found.cover().records, found.cover().ranges);
  return found;
}

/// Adds findings to a file.
template <class Value>
void add_found(PartFile& file, const Found<Value>& found) {
  add_part(file, found.cover().records, found.cover().ranges, found.save());
}

}  // namespace detail
}  // namespace ooc
