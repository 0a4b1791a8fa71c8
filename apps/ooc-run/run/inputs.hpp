#pragma once

#include <cstdint>
#include <filesystem>
#include <ooc/source.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/interrupt.hpp"
#include "request/run_settings.hpp"

namespace ooc_run {

/// True for standard input, named "-", and for a pipe.
bool is_stream(const std::string& file);

/// Opens the files as one dataset of numbers. Throws Error, also for streams.
ooc::Source open_numbers(std::span<const std::string> files, const RunSettings& settings);
ooc::Source open_numbers(const RunSettings& settings);  // all files of the settings

/// Opens the files as one dataset of numbers or structs, of which --skip leaves out whole rows.
ooc::Source open_records(const RunSettings& settings);

/// Throws Error(usage) if --skip leaves out a part of a row.
void require_whole_rows(const ooc::Source& source, const RunSettings& settings);

/// Makes the elements of a source rows of `wanted` columns, if that is given and the data have no
/// shape. Returns the number of columns. Throws Error(usage) if raw data have none, or if the shape
/// has another one; `bad_input` for rows of different lengths.
std::uint64_t set_columns(ooc::Source& source, const std::optional<std::uint64_t>& wanted);

/// Like open_numbers(), but the only file may be a stream: standard input, named "-", or a pipe.
/// Waits for its first bytes, or until the user interrupts the run.
ooc::Source open_input(const RunSettings& settings, const Interrupt& interrupt);

/// Returns the files as paths. Throws Error if one of them is a stream.
std::vector<std::filesystem::path> files_of(std::span<const std::string> files);

}  // namespace ooc_run
