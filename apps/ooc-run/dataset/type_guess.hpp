#pragma once

#include <cstddef>
#include <cstdint>
#include <ooc/detail/base/dtype.hpp>
#include <optional>
#include <span>
#include <string>

namespace ooc_run {

/// Evidence for a guess: `values` are typical of the type; a repeating `pattern` of bytes, which
/// records have as well; the data are `text`, not numbers.
enum class Evidence { values, pattern, text };

/// A guess at the type of raw data, for messages only. No command uses it to read data.
struct TypeGuess {
  std::optional<ooc::DType> type;  // empty: unknown
  std::string reason;              // a sentence without a full stop
  Evidence evidence = Evidence::values;
};

/// Guesses the type of data from a sample. `data_bytes`: size of all data. Every 8 bytes of the
/// sample are from an offset that is a multiple of 8 bytes after the first element. Two facts are
/// used. Bytes at different positions of an element have different distributions, which gives the
/// width. And real data are rarely extreme, but floats read as integers and integers read as floats
/// are.
TypeGuess guess_type(std::span<const std::byte> sample, std::uint64_t data_bytes);

/// Returns the fraction of odd values if the sample is read as a floating-point type: NaN, and
/// values with a very large or very small magnitude. Zeros are not counted. 0 for other types.
double odd_share(std::span<const std::byte> sample, ooc::DType type);

}  // namespace ooc_run
