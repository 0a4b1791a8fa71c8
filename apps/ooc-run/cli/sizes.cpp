#include "cli/sizes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <ooc/detail/base/letters.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>
#include <span>
#include <system_error>

#include "cli/failure.hpp"

namespace ooc_run {
namespace {

struct Unit {
  std::string_view suffix;  // in lower case
  std::uint64_t factor;
};

constexpr std::uint64_t kilo = 1000;
constexpr std::uint64_t kibi = 1024;

constexpr std::array byte_units{
    Unit{"", 1},
    Unit{"k", kibi},
    Unit{"kib", kibi},
    Unit{"kb", kilo},
    Unit{"m", kibi* kibi},
    Unit{"mib", kibi* kibi},
    Unit{"mb", kilo* kilo},
    Unit{"g", kibi* kibi* kibi},
    Unit{"gib", kibi* kibi* kibi},
    Unit{"gb", kilo* kilo* kilo},
    Unit{"t", kibi* kibi* kibi* kibi},
    Unit{"tib", kibi* kibi* kibi* kibi},
    Unit{"tb", kilo* kilo* kilo* kilo},
};

constexpr std::array count_units{
    Unit{"", 1},
    Unit{"k", kilo},
    Unit{"m", kilo* kilo},
    Unit{"g", kilo* kilo* kilo},
    Unit{"t", kilo* kilo* kilo* kilo},
};

/// Removes the unsigned integer at the start of `text` and returns it.
std::uint64_t take_digits(std::string_view& text, const std::string& hint) {
  if (text.starts_with('-')) refuse_usage("must not be negative", hint);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) refuse_usage("is too large", hint);
  if (error != std::errc{}) refuse_usage("is not a whole number", hint);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// Returns `value` times the unit that `suffix` names.
std::uint64_t scale(std::uint64_t value, std::string_view suffix, std::span<const Unit> units,
                    const std::string& hint) {
  const std::string lower = ooc::detail::lower_case(suffix);
  const auto is_letter = [](char letter) { return letter >= 'a' && letter <= 'z'; };
  if (!std::ranges::all_of(lower, is_letter)) refuse_usage("is not a whole number", hint);
  const auto unit = std::ranges::find(units, lower, &Unit::suffix);
  if (unit == units.end()) refuse_usage(fmt::format("has no unit named '{}'", suffix), hint);
  std::uint64_t scaled = 0;
  if (__builtin_mul_overflow(value, unit->factor, &scaled)) refuse_usage("is too large", hint);
  return scaled;
}

/// Removes each '_' between two digits: returns "1000000" for "1_000_000".
std::string without_separators(std::string_view text) {
  std::string rest;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool separates = text[i] == '_' && i > 0 && i + 1 < text.size() &&
                           ooc::detail::is_digit(text[i - 1]) && ooc::detail::is_digit(text[i + 1]);
    if (!separates) rest += text[i];
  }
  return rest;
}

/// Parses a number of things other than bytes, such as elements.
std::uint64_t parse_number(std::string_view text, const std::string& hint) {
  const std::string digits = without_separators(text);
  std::string_view rest = digits;
  std::uint64_t value = take_digits(rest, hint);
  const bool has_exponent = rest.size() > 1 && (rest[0] == 'e' || rest[0] == 'E') &&
                            std::ranges::all_of(rest.substr(1), ooc::detail::is_digit);
  if (!has_exponent) return scale(value, rest, count_units, hint);
  rest.remove_prefix(1);
  constexpr std::uint64_t too_many = 20;  // digits: 10^20 does not fit in 64 bits
  for (std::uint64_t i = std::min(take_digits(rest, hint), too_many); i > 0; --i) {
    if (__builtin_mul_overflow(value, 10, &value)) refuse_usage("is too large", hint);
  }
  return value;
}

/// Returns three significant digits, never in scientific notation.
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

std::string with_unit(double value, double step, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && value >= step * 0.9995) {
    value /= step;
    ++unit;
  }
  return fmt::format("{} {}", unit == 0 ? fmt::format("{:.0f}", value) : three_digits(value),
                     units[unit]);
}

constexpr std::array<std::string_view, 6> decimal_units{"bytes", "KB", "MB", "GB", "TB", "PB"};
constexpr std::array<std::string_view, 6> binary_units{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};

constexpr std::array<std::string_view, 7> flop_units{"FLOP",  "KFLOP", "MFLOP", "GFLOP",
                                                     "TFLOP", "PFLOP", "EFLOP"};

}  // namespace

std::uint64_t parse_bytes(std::string_view text) {
  const std::string hint = "sizes are whole numbers: 4096, 64K, 16MiB, 2G (binary), 5GB";
  const std::uint64_t value = take_digits(text, hint);
  return scale(value, text, byte_units, hint);
}

std::uint64_t parse_count(std::string_view text) {
  return parse_number(text, "counts are whole numbers: 1000, 1_000, 1e6, 64K, 2M, 1G (decimal)");
}

std::vector<std::uint64_t> parse_shape(std::string_view text) {
  constexpr const char* hint = "lengths with x between them: 1000x2000, 64Kx3 (decimal)";
  std::vector<std::uint64_t> shape;
  for (;;) {
    const std::size_t cross = text.find('x');
    shape.push_back(parse_number(text.substr(0, cross), hint));
    if (cross == std::string_view::npos) return shape;
    text.remove_prefix(cross + 1);
  }
}

std::int64_t parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) refuse_usage("is too large");
  if (error != std::errc{} || end != text.data() + text.size()) refuse_usage("is not an integer");
  return value;
}

double parse_real(std::string_view text) {
  double value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    refuse_usage(fmt::format("'{}' is out of range", text));
  if (error != std::errc{} || end != text.data() + text.size()) {
    refuse_usage(fmt::format("'{}' is not a number", text));
  }
  if (std::isnan(value)) refuse_usage("must not be NaN");
  return value;
}

ooc::Scalar parse_scalar(std::string_view text) {
  bool is_too_long = false;
  const auto parse_as = [&](auto& value) {
    const char* const end = text.data() + text.size();
    const auto [rest, failed] = std::from_chars(text.data(), end, value);
    is_too_long |= failed == std::errc::result_out_of_range && rest == end;
    return failed == std::errc{} && rest == end;
  };
  if (std::int64_t value = 0; parse_as(value)) return ooc::int128{value};
  if (std::uint64_t value = 0; parse_as(value)) return ooc::int128{value};
  if (is_too_long) {
    refuse_usage(fmt::format("the integer {} has more than 64 bits", text),
                 fmt::format("{}.0 is a number of double precision", text));
  }
  return parse_real(text);
}

double parse_seconds(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  constexpr std::array<Unit, 5> units{
      {{"ms", 0.001}, {"s", 1}, {"min", 60}, {"m", 60}, {"h", 3600}}};
  double factor = 1;
  for (const auto& [name, seconds] : units) {
    if (!text.ends_with(name)) continue;
    text.remove_suffix(name.size());
    factor = seconds;
    break;
  }
  constexpr const char* hint = "times are such as 500ms, 30s (or 30), 5m, 2h";
  double seconds = 0;
  try {
    seconds = factor * parse_real(text);
  } catch (const ooc::Error& error) {
    refuse_usage(error.what(), hint);
  }
  if (seconds < 0) refuse_usage("must not be negative", hint);
  return seconds;
}

std::string format_decimal_bytes(double bytes) {
  return bytes == 1 ? "1 byte" : with_unit(bytes, kilo, decimal_units);
}

std::string format_bytes(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < kilo) return format_decimal_bytes(value);
  return fmt::format("{} ({})", format_decimal_bytes(value), with_unit(value, kibi, binary_units));
}

std::string format_binary_bytes(std::uint64_t bytes) {
  if (bytes % ooc::detail::KiB != 0) return format_decimal_bytes(static_cast<double>(bytes));
  std::size_t unit = 1;
  std::uint64_t count = bytes / ooc::detail::KiB;
  while (count != 0 && count % ooc::detail::KiB == 0 && unit + 1 < binary_units.size()) {
    count /= ooc::detail::KiB;
    ++unit;
  }
  return fmt::format("{} {}", count, binary_units[unit]);
}

std::string format_rate(double bytes_per_second) {
  return format_decimal_bytes(bytes_per_second) + "/s";
}

std::string format_both_rates(double bytes_per_second) {
  return fmt::format("{} ({}/s)", format_rate(bytes_per_second),
                     with_unit(bytes_per_second, kibi, binary_units));
}

std::string format_flops(double flops) {
  return with_unit(flops, kilo, flop_units);
}

std::string format_seconds(double seconds) {
  if (seconds < 0.9995) return three_digits(seconds * 1000) + " ms";
  if (seconds < 99.95) return three_digits(seconds) + " s";
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  const std::uint64_t minutes = whole / 60;
  if (minutes < 60) return fmt::format("{}:{:02} min", minutes, whole % 60);
  return fmt::format("{}:{:02}:{:02} h", minutes / 60, minutes % 60, whole % 60);
}

std::string enumeration(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string format_count(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", group_digits(std::to_string(count)), noun, count == 1 ? "" : "s");
}

}  // namespace ooc_run
