#pragma once

#include <cstddef>
#include <cstdint>
#include <ooc/io/element_type.hpp>
#include <optional>
#include <span>
#include <string>

namespace ooc_run {

/// What a guess goes by: what the numbers would be; merely a pattern, which records have as well;
/// or that there are letters and no numbers of any type.
enum class Evidence { values, pattern, text };

/// What raw data look like. It is for people: no command reads data by it.
struct TypeGuess {
  std::optional<ooc::DType> type;  // empty: nothing speaks for any type
  std::string reason;              // what speaks for it, a sentence without its end
  Evidence evidence = Evidence::values;
};

/// Guesses from a sample of data that have `data_bytes` in all. Every 8 bytes of the sample begin a
/// multiple of 8 bytes behind the first element. Two things tell a type: bytes at different places
/// of an element are distributed differently, which gives its width; and numbers that people keep
/// are mostly not extreme, which floats read as integers are, and integers read as floats.
TypeGuess guess_type(std::span<const std::byte> sample, std::uint64_t data_bytes);

/// The share of the numbers of a floating-point type, 0 left out, that people hardly keep: NaN, and
/// what is very large or very small in size.
double odd_share(std::span<const std::byte> sample, ooc::DType type);

}  // namespace ooc_run
