#pragma once

#include <ooc/detail/base/language.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/source.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

namespace ooc::detail {

/// Returns a producer of a part of another producer's bytes: `bytes` bytes after the first `skip`,
/// or all the rest. Its fill() throws Error(bad_input) if the other producer ends earlier.
std::unique_ptr<Producer> part_of(std::unique_ptr<Producer> whole, std::uint64_t skip,
                                  std::optional<std::uint64_t> bytes = {});

/// Returns a producer of the bytes of a file. Its fill() throws Error(input_changed) if the file
/// has changed.
std::unique_ptr<Producer> read_file(File file);

/// True if the path names a pipe: a FIFO, the path that a shell substitutes for `<(command)`, or
/// /dev/stdin if that is a pipe.
bool is_pipe(const std::filesystem::path& path);

/// Opens a pipe by its path, and returns a producer that reads it to its end. Does not wait for a
/// writer: the first call of fill() does. Throws Error(input) if it cannot be opened or read.
std::unique_ptr<Producer> read_pipe(const std::filesystem::path& path);

}  // namespace ooc::detail
