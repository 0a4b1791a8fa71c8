#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/io/source.hpp>
#include <ooc/kernels/number.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rates/ceilings.hpp"
#include "rates/prediction.hpp"

namespace ooc_run {

using Json = nlohmann::ordered_json;

/// NaN and the infinities are strings, JSON knows no others. Nothing is null. Integers are exact
/// however long: see document().
Json json_number(double value);
Json json_number(const std::optional<double>& value);
Json json_number(const ooc::Number& value);
Json json_integer(ooc::int128 value);

/// JSON as text. Of a string, what it says: no marks around it.
std::string text_of(const Json& value);

/// The `input` and `run` objects of a result.
Json describe_input(const ooc::Source& source, const ooc::Format& format);
Json describe_run(const ooc::Stats& stats, bool writes, std::span<const std::string> reasons,
                  const std::string& verdict, const Ceilings& ceilings = {},
                  const std::optional<Prediction>& prediction = {});

/// A result that covers a part of the input says so.
void mark_partial(Json& result, const ooc::Stats& stats);

/// The whole document for stdout: a line for each of its parts. `warnings`: what makes the meaning
/// of the result doubtful.
std::string document(std::string_view command, const Json& input, const Json& result,
                     const Json& run, std::span<const std::string> warnings = {});

// The same for people.

/// "1,000 values of float32".
std::string describe_values(std::uint64_t count, ooc::DType type);

/// "prices.f32: 1,000 values of float32 (from .f32)".
std::string heading(const ooc::Source& source);

/// "4.29 GB in 632 ms, 6.80 GB/s, NVIDIA H200, direct, io_uring".
std::string footer(const ooc::Stats& stats);

/// Empty, or that the result covers a part of the input.
std::string partial_line(const ooc::Source& source, const ooc::Stats& stats);

/// Empty unless it is `wanted`: the checksum of the input, or why there is none.
std::string checksum_line(const ooc::Stats& stats, bool wanted);

/// Empty, or that the result was verified, which took so many seconds.
std::string verified_line(const std::optional<double>& seconds);

/// Shortest digits that read back as the same value; integers in groups of three; "-" for nothing.
std::string format_number(const ooc::Number& value);
std::string format_real(double value);

/// The same for an element of a dataset: of f4, the shortest digits that read back as the same f4.
std::string format_element(const ooc::Number& value, ooc::ElementType type);

/// Elements of a source.
std::uint64_t count_of(const ooc::Source& source);

}  // namespace ooc_run
