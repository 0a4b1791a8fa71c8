#pragma once

#include <ooc/detail/file/file.hpp>
#include <ooc/error.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

#include "allocated_bytes.hpp"
#include "dataset/formats/formats.hpp"
#include "input.hpp"
#include "memory_file.hpp"

namespace ooc::detail::fuzz {

/// Requires that a file of these bytes is understood as one of a format, or refused as bad input,
/// and that it costs at most `most` bytes of memory, and `most_each` for each byte of the file.
/// Calls `check` with its arrays and the file.
template <class Check>
void check_format(const FormatParser& format, std::string_view bytes, std::uint64_t most,
                  std::uint64_t most_each, Check check) {
  const MemoryFile memory(bytes);
  const File file = File::open(memory.path());
  const std::uint64_t before = allocated_bytes();
  try {
    Beginning beginning(file);
    format.recognise(beginning, {});
    check(format.list(beginning, {}), file);
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::bad_input, "a file is understood, or bad input");
  }
  const std::uint64_t allocated = allocated_bytes() - before;
  require(allocated <= most + most_each * bytes.size(), "a file costs little memory");
}

}  // namespace ooc::detail::fuzz
