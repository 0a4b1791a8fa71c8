#pragma once

#include <cstddef>
#include <cstdint>
#include <ooc/detail/base/group_digits.hpp>
#include <ooc/reduce.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ooc_run {

// Parsers of what users write. Each throws Error(usage); its message completes "--option TEXT: ".

/// Parses a number of bytes: "4096", "64K", "1GiB" (binary), "5GB" (decimal), in either case.
std::uint64_t parse_bytes(std::string_view text);

/// Parses a count: "1000", "1_000_000", "1e6", "64K", "2M" (decimal).
std::uint64_t parse_count(std::string_view text);

/// Parses the shape of an array: "32768x32768", "2Mx1K" (decimal), "3x4x5", "100".
std::vector<std::uint64_t> parse_shape(std::string_view text);

/// Parses an integer that may be negative.
std::int64_t parse_integer(std::string_view text);

/// Parses a number. Refuses NaN and numbers out of range; accepts "inf".
double parse_real(std::string_view text);

/// Parses a number: an integer of 64 bits exactly, another one as parse_real().
ooc::Scalar parse_scalar(std::string_view text);

/// Parses a list such as "0,1,10", each item with `parse`.
template <class Parse>
auto parse_list(std::string_view text, const Parse& parse) {
  std::vector<decltype(parse(text))> items;
  for (;;) {
    const std::size_t comma = text.find(',');
    items.push_back(parse(text.substr(0, comma)));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

/// Parses a time in seconds: "30", "0.5", "500ms", "30s", "5m", "2h". Refuses negative times.
double parse_seconds(std::string_view text);

// Text for messages.

/// Returns, for example, "123 bytes" or "1.07 GB (1.00 GiB)".
std::string format_bytes(std::uint64_t bytes);

/// Returns three digits and a decimal unit: "6.80 GB", "512 KB".
std::string format_decimal_bytes(double bytes);

/// Returns, for example, "8 MiB" or "640 KiB". For sizes of chunks and blocks, which are round.
std::string format_binary_bytes(std::uint64_t bytes);

/// Returns, for example, "6.80 GB/s".
std::string format_rate(double bytes_per_second);

/// Returns, for example, "6.80 GB/s (6.33 GiB/s)".
std::string format_both_rates(double bytes_per_second);

/// Returns a number of floating-point operations, for example "2.15 GFLOP".
std::string format_flops(double flops);

/// Returns, for example, "634 ms", "12.4 s", "3:05 min" or "2:10:00 h".
std::string format_seconds(double seconds);

using ooc::detail::group_digits;  // "-1,234,567" for "-1234567"

/// Returns, for example, "the link and the kernel" or "the disk, the link and the kernel".
std::string enumeration(const std::vector<std::string>& names);

/// Returns, for example, "1 thread" or "2,048 threads".
std::string format_count(std::uint64_t count, std::string_view noun);

}  // namespace ooc_run
