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
  bool is_one = false;  // `begin`, which drops the dimension
};

/// Parses the indices between the brackets of a slice.
class SliceParser {
 public:
  SliceParser(std::string_view slice, const std::filesystem::path& path)
      : slice_(slice), left_(slice), path_(path) {}

  /// Returns the indices of the first dimensions; those of the others are complete.
  std::vector<IndexRange> parse() {
    expect('[');
    std::vector<IndexRange> ranges;
    do {
      skip_spaces();
      if (left_.starts_with("...")) {
        left_.remove_prefix(3);
        skip_spaces();
        break;
      }
      ranges.push_back(range());
    } while (accept(',') && !left_.starts_with(']'));  // a comma may be the last
    expect(']');
    if (!left_.empty()) fail();
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
    if (accept(':') && number().value_or(1) != 1) {
      throw Error(ErrorKind::usage, path_.string() + ": slices with steps are not read",
                  {.path = path_,
                   .why = "elements that are stored one after another are",
                   .hint = "leave the step out"});
    }
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

/// Returns the indices in a dimension. As in NumPy, an end may lie outside, and one index may not.
RecordRange indices_of(const IndexRange& range, std::uint64_t length,
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
    return {static_cast<std::uint64_t>(place), 1};
  }
  const std::uint64_t begin = clamped(range.begin), end = clamped(range.end);
  return {begin, end > begin ? end - begin : 0};
}

/// Gives an array without a shape, as a raw one, that of its elements.
void require_shape(StoredArray& array, const std::filesystem::path& path) {
  const std::uint64_t element_bytes = ooc::size_of(array.type);
  if (array.bytes % element_bytes != 0) {
    throw not_there(path, std::to_string(array.bytes) + " bytes are not a whole number of " +
                              elements_of(array.type));
  }
  if (array.shape.empty()) array.shape = {array.bytes / element_bytes};
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
  const std::vector<IndexRange> ranges = SliceParser(slice, path).parse();
  require_shape(array, path);
  if (ranges.size() > array.shape.size()) {
    throw not_there(path, "has " + std::to_string(array.shape.size()) + " dimensions, not the " +
                              std::to_string(ranges.size()) + " of " + std::string(slice));
  }
  std::vector<std::uint64_t> shape;
  std::uint64_t first = 0;
  bool has_several = false, has_gaps = false;  // indices in a dimension before, and behind those
  for (std::size_t i = 0; i < array.shape.size(); ++i) {
    const std::uint64_t length = array.shape[i];
    const IndexRange range = i < ranges.size() ? ranges[i] : IndexRange{};
    const RecordRange indices = indices_of(range, length, path);
    has_gaps |= has_several && indices.count != length;
    has_several |= indices.count != 1;
    first = first * length + indices.first;
    if (!range.is_one) shape.push_back(indices.count);
  }
  if (has_gaps && std::ranges::find(shape, 0u) == shape.end()) {
    throw Error(ErrorKind::usage, path.string() + ": " + std::string(slice) + " has gaps",
                {.path = path,
                 .why = "the elements of a slice must be stored one after another",
                 .hint = "take whole rows, as [2:4] does"});
  }
  const std::size_t element_bytes = ooc::size_of(array.type);
  array.bytes = product_of(shape, element_bytes).value_or(0);  // no more than before
  if (array.bytes != 0) array.offset += first * element_bytes;
  array.shape = std::move(shape);
  array.name += slice;
  return array;
}

}  // namespace ooc::detail
