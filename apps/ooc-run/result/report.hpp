#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/reduce.hpp>
#include <ooc/source.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rates/ceilings.hpp"
#include "rates/prediction.hpp"
#include "result/document.hpp"
#include "result/json.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

/// Returns the `run.checkpoint` object of a result.
Json describe_checkpoint(const ooc::Checkpoint& checkpoint, const ooc::Stats& stats);

// The `input` and `run` objects of a result.
Json describe_input(const ooc::Source& source, const ooc::Format& format);
/// The same of one source of a command, or of two: that of a histogram with its weights, or those
/// of x and y under these names.
Json describe_inputs(std::string_view command, std::span<const ooc::Source> sources,
                     const ooc::Format& format);
Json describe_run(const ooc::Stats& stats, bool writes, std::span<const std::string> reasons,
                  const std::string& verdict, const Ceilings& ceilings = {},
                  const std::optional<Prediction>& prediction = {});

/// Marks a result that covers only a part of the input. Leaves other results unchanged.
void mark_partial(Json& result, const ooc::Stats& stats);

/// Returns the JSON document for stdout, with a line for each of its parts. `warnings`: warnings
/// about the meaning of the result.
Document document(std::string_view command, const Json& input, Json result, const Json& run,
                  std::span<const std::string> warnings = {});

// Text for messages.

/// Returns, for example, "1,000 values of float32".
std::string describe_values(std::uint64_t count, const ooc::DType& type);

/// Returns, for example, "prices.f32: 1,000 values of float32".
std::string describe_data(const ooc::Source& source);

/// Like describe_data(), with the reason for the type: "...: 1,000 values of float32 (from .f32)".
std::string heading(const ooc::Source& source);
std::string headings(std::span<const ooc::Source> sources);  // a line for each

/// Returns, for example, "4.29 GB in 632 ms, 6.80 GB/s, NVIDIA H200, direct, io_uring".
std::string footer(const ooc::Stats& stats);

/// Adds a note about bytes after the arrays of .npy files, if there are any.
void note_behind(const ooc::Source& source, Outcome& outcome);

/// Returns a sentence that says which part of the inputs the result covers. Empty if it covers all.
std::string describe_partial(std::span<const ooc::Source> sources, const ooc::Stats& stats);

/// Returns a line with the checksum of the input, or the reason why there is none. Empty unless
/// `wanted`.
std::string checksum_line(const ooc::Stats& stats, bool wanted);

/// Returns a line that tells how long the verification took. Empty if the result was not verified.
std::string verified_line(const std::optional<double>& seconds);

/// Returns the fewest digits that read back as the same value; for integers, all digits in groups
/// of three; for a missing value, "-".
std::string format_number(const ooc::Scalar& value);
std::string format_real(double value);

/// Like format_number(), for an element of a dataset. For the floats smaller than f8, returns the
/// fewest digits that read back as the same float32.
std::string format_element(const ooc::Scalar& value, ooc::ElementType type);

}  // namespace ooc_run
