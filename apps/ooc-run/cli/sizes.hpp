#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ooc_run {

// Reading what users write. Each throws Error(usage), whose message completes "--option TEXT: ".

/// Bytes: "4096", "64K", "1GiB" (binary), "5GB" (decimal), in either case.
std::uint64_t parse_bytes(std::string_view text);

/// How many: "1000", "1_000_000", "1e6", "64K", "2M" (decimal).
std::uint64_t parse_count(std::string_view text);

/// Lengths of the axes of an array: "32768x32768", "2Mx1K" (decimal), "3x4x5", "100".
std::vector<std::uint64_t> parse_shape(std::string_view text);

/// An integer that may be negative.
std::int64_t parse_integer(std::string_view text);

/// A number, not NaN; infinite only if written so.
double parse_real(std::string_view text);

// Writing for people.

/// "123 bytes", "1.07 GB (1.00 GiB)".
std::string format_bytes(std::uint64_t bytes);

/// "6.80 GB", "512 KB": three digits and a decimal unit.
std::string format_decimal_bytes(double bytes);

/// "8 MiB", "640 KiB", "1 GiB": sizes of chunks and blocks, which are round.
std::string format_binary_bytes(std::uint64_t bytes);

/// "6.80 GB/s".
std::string format_rate(double bytes_per_second);

/// "6.80 GB/s (6.33 GiB/s)".
std::string format_both_rates(double bytes_per_second);

/// "2.15 GFLOP": floating-point operations.
std::string format_flops(double flops);

/// "634 ms", "12.4 s", "3:05 min", "2:10:00 h".
std::string format_seconds(double seconds);

/// Digits in groups of three: "-1,234,567".
std::string group_digits(std::string digits);

/// "the link", "the link and the kernel", "the disk, the link and the kernel".
std::string enumeration(const std::vector<std::string>& names);

/// "1 thread", "2,048 threads".
std::string format_count(std::uint64_t count, std::string_view noun);

}  // namespace ooc_run
