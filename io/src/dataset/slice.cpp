#include "dataset/slice.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/shape.hpp"

namespace ooc::detail {
namespace {

/// The indices of one dimension: one index, or those from `begin` up to `end`.
struct IndexRange {
  std::int64_t begin = 0, end = std::numeric_limits<std::int64_t>::max();
  std::uint64_t step = 1;
  bool is_one = false;  // `begin`, which drops the dimension
};

/// Parses the indices between the brackets of a slice.
class SliceParser {
 public:
  SliceParser(std::string_view slice, const std::filesystem::path& path)
      : slice_(slice), left_(slice), path_(path) {}

  /// Returns the indices of `dimensions`; those that are not named, behind the others or where
  /// "..." stands, are complete. Returns more if more are named.
  std::vector<IndexRange> parse(std::size_t dimensions) {
    std::vector<IndexRange> ranges;
    std::optional<std::size_t> rest;  // where it stands
    expect('[');
    do {
      skip_spaces();
      if (!left_.starts_with("...")) {
        ranges.push_back(range());
        continue;
      }
      if (rest) fail();
      rest = ranges.size();
      left_.remove_prefix(3);
    } while (accept(',') && !left_.starts_with(']'));  // a comma may be the last
    expect(']');
    if (!left_.empty()) fail();
    const std::size_t unnamed = dimensions - std::min(dimensions, ranges.size());
    const auto place = ranges.begin() + static_cast<std::ptrdiff_t>(rest.value_or(ranges.size()));
    ranges.insert(place, unnamed, IndexRange{});
    return ranges;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorKind::usage,
                path_.string() + ": " + in_quotes(std::string(slice_)) + " is no slice",
                {.path = path_, .hint = "[2:4] takes rows 2 and 3, [-1] the last one"});
  }

  IndexRange range() {
    const std::optional<std::int64_t> first = number();
    IndexRange range{.begin = first.value_or(0)};
    skip_spaces();
    if (!left_.starts_with(':')) {
      if (!first) fail();
      range.is_one = true;
      return range;
    }
    accept(':');
    range.end = number().value_or(range.end);
    if (!accept(':')) return range;
    const std::int64_t step = number().value_or(1);
    if (step < 1) {
      throw Error(ErrorKind::usage,
                  path_.string() + ": " + std::to_string(step) + " is no step that is read",
                  {.path = path_, .hint = "1, 2, 3 and so on are; data are not read backwards"});
    }
    range.step = static_cast<std::uint64_t>(step);
    return range;
  }

  std::optional<std::int64_t> number() {
    skip_spaces();
    std::int64_t number = 0;
    const char* const end = left_.data() + left_.size();
    const auto [rest, failed] = std::from_chars(left_.data(), end, number);
    if (failed == std::errc::invalid_argument) return {};
    if (failed == std::errc::result_out_of_range) {  // beyond the ends of any array
      using Limits = std::numeric_limits<std::int64_t>;
      number = left_.front() == '-' ? Limits::min() : Limits::max();
    }
    left_.remove_prefix(static_cast<std::size_t>(rest - left_.data()));
    return number;
  }

  void skip_spaces() { left_.remove_prefix(std::min(left_.find_first_not_of(' '), left_.size())); }

  bool accept(char wanted) {
    skip_spaces();
    if (!left_.starts_with(wanted)) return false;
    left_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail();
  }

  std::string_view slice_, left_;
  const std::filesystem::path& path_;
};

/// Returns the place of an index, or of an end, in a dimension: negative ones count from its end.
/// Less than 0, or more than its length, if it lies outside.
__int128 place_of(std::int64_t index, std::uint64_t length) {
  return index < 0 ? static_cast<__int128>(length) + index : static_cast<__int128>(index);
}

Error not_there(const std::filesystem::path& path, const std::string& problem) {
  return {ErrorKind::bad_input, path.string() + ": " + problem, {.path = path}};
}

/// Indices in a dimension: `first`, and every `step`th behind it.
struct Indices {
  std::uint64_t first, count, step;
};

/// Returns the indices in a dimension. As in NumPy, an end may lie outside, and one index may not.
Indices indices_of(const IndexRange& range, std::uint64_t length,
                   const std::filesystem::path& path) {
  const auto clamped = [length](std::int64_t index) {
    return static_cast<std::uint64_t>(
        std::clamp<__int128>(place_of(index, length), 0, static_cast<__int128>(length)));
  };
  if (range.is_one) {
    const __int128 place = place_of(range.begin, length);
    if (place < 0 || place >= static_cast<__int128>(length)) {
      throw not_there(path, "has no index " + std::to_string(range.begin) + " in a dimension of " +
                                std::to_string(length));
    }
    return {static_cast<std::uint64_t>(place), 1, 1};
  }
  const std::uint64_t begin = clamped(range.begin), end = clamped(range.end);
  return {begin, end > begin ? (end - begin - 1) / range.step + 1 : 0, range.step};
}

/// Returns the size of an element as it is stored, or of its record (bytes).
std::size_t stored_bytes_of(const StoredArray& array) {
  return array.record_bytes != 0 ? array.record_bytes : ooc::size_of(array.type);
}

/// Gives an array without a shape, as a raw one, that of its elements.
void require_shape(StoredArray& array, const std::filesystem::path& path) {
  const std::uint64_t element_bytes = stored_bytes_of(array);
  if (array.bytes % element_bytes != 0) {
    throw not_there(path, std::to_string(array.bytes) + " bytes are not a whole number of " +
                              elements_of(array.type));
  }
  if (array.shape.empty()) array.shape = {array.bytes / element_bytes};
}

/// Elements of an array: `first`, and every `step`th behind it, so many.
struct Selection {
  std::uint64_t first = 0, count = 1, step = 1;

  /// Adds a dimension behind those so far, of `length` indices of which some are taken. Returns
  /// false if the elements would not all be equally far apart.
  bool append(const Indices& taken, std::uint64_t length) {
    const bool is_even =
        count == 1 || taken.count == 1 || step * length == taken.count * taken.step;
    first = first * length + taken.first;
    step = taken.count == 1 ? (count == 1 ? 1 : step * length) : taken.step;
    count *= taken.count;
    return is_even;
  }
};

/// Places the elements of a selection in records of `step` elements each. Records may begin before
/// the array, in its file, and end with it. Throws Error(usage) if they would begin before the
/// file.
void place_in_records(StoredArray& array, const Selection& selected, std::string_view slice,
                      const std::filesystem::path& path) {
  const std::size_t element_bytes = stored_bytes_of(array);
  const std::uint64_t elements = array.bytes / element_bytes;
  const std::uint64_t needed = selected.first + selected.count * selected.step;
  const std::uint64_t before = needed - std::min(needed, elements);  // of the record's elements
  const std::uint64_t begin = array.offset + selected.first * element_bytes;
  if (before * element_bytes > begin) {
    throw Error(ErrorKind::usage, path.string() + ": " + std::string(slice) + " is not read",
                {.path = path,
                 .why = "steps are read as records of " + std::to_string(selected.step) +
                        " elements, and the last one is not complete",
                 .hint = "end the slice before it"});
  }
  array.record_bytes = selected.step * element_bytes;
  array.offset_in_record += before * element_bytes;
  array.offset = begin - before * element_bytes;
  array.bytes = selected.count * array.record_bytes;
}

}  // namespace

std::pair<std::string_view, std::string_view> cut_slice(std::string_view name,
                                                        std::span<const StoredArray> arrays) {
  const std::size_t at = name.rfind('[');
  const bool has_slice = at != std::string_view::npos && name.ends_with(']');
  if (!has_slice || std::ranges::find(arrays, name, &StoredArray::name) != arrays.end()) {
    return {name, {}};
  }
  return {name.substr(0, at), name.substr(at)};
}

StoredArray slice_of(StoredArray array, std::string_view slice, const std::filesystem::path& path) {
  require_shape(array, path);
  const std::vector<IndexRange> ranges = SliceParser(slice, path).parse(array.shape.size());
  if (ranges.size() > array.shape.size()) {
    throw not_there(path, "has " + std::to_string(array.shape.size()) + " dimensions, not the " +
                              std::to_string(ranges.size()) + " of " + std::string(slice));
  }
  std::vector<std::uint64_t> shape;
  Selection selected;
  bool is_even = true;
  for (std::size_t i = 0; i < array.shape.size(); ++i) {
    const Indices taken = indices_of(ranges[i], array.shape[i], path);
    is_even &= selected.append(taken, array.shape[i]);
    if (!ranges[i].is_one) shape.push_back(taken.count);
  }
  const std::size_t element_bytes = stored_bytes_of(array);
  if (selected.count == 0) {
    array.bytes = 0;
  } else if (!is_even) {
    throw Error(ErrorKind::usage, path.string() + ": " + std::string(slice) + " has gaps",
                {.path = path,
                 .why = "the elements of a slice must be equally far apart",
                 .hint = "take whole rows, as [2:4] does, or one column, as [:, 3] does"});
  } else if (selected.step == 1 || selected.count == 1) {
    array.bytes = selected.count * element_bytes;
    array.offset += selected.first * element_bytes;
  } else {
    place_in_records(array, selected, slice, path);
  }
  array.shape = std::move(shape);
  array.name += slice;
  return array;
}

}  // namespace ooc::detail
