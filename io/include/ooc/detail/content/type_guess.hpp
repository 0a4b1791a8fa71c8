#pragma once

#include <ooc/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ooc::detail {

/// Evidence for a guess: `values` are typical of the type; a repeating `pattern` of bytes, which
/// records have as well; the data are `text`, not numbers.
enum class Evidence { values, pattern, text };

/// A guess at the type of raw data, for messages only. Nothing uses it to read data.
struct TypeGuess {
  std::optional<DType> type;  // empty: unknown
  std::string reason;         // a sentence without a full stop
  Evidence evidence = Evidence::values;

  /// True if the low bytes of the numbers look like digits: random, or 0. The bytes of images,
  /// which may show a pattern as well, change smoothly.
  bool is_sure = false;
};

/// Guesses the type of data from a sample. `data_bytes`: size of all data. Every 8 bytes of the
/// sample are from an offset that is a multiple of 8 bytes after the first element. Two facts are
/// used. Bytes at different positions of an element have different distributions, which gives the
/// width. And real data are rarely extreme, but floats read as integers and integers read as floats
/// are.
TypeGuess guess_type(std::span<const std::byte> sample, std::uint64_t data_bytes);

/// Returns the range of a sample's values: "from -90 to 90".
std::string range_of(std::span<const std::byte> sample, const DType& type);

}  // namespace ooc::detail
