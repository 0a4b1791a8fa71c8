#pragma once

#include <ooc/detail/file/file.hpp>
#include <ooc/dtype.hpp>
#include <ooc/source.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "dataset/beginning.hpp"

namespace ooc::detail {

/// A file as its format describes it: which bytes are data, and their type.
struct Description {
  DType type;
  std::string type_reason;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // for raw files not always a whole number of elements
  std::vector<std::uint64_t> shape{};
  std::string version{};
  bool by_columns = false;
  std::uint64_t bytes_behind = 0;  // behind the data of a .npy file
};

/// True if a file or stream begins like a .npy file or has that extension, unless `format` says
/// what it is. Throws Error(input).
bool is_npy(Beginning& file, const Format& format);

/// Parses the header of a .npy file or stream. Throws Error: `usage` if `format` has an offset;
/// `bad_input` if the header cannot be parsed, or contradicts the size of the file or `format`;
/// `input` if it cannot be read.
Description describe_npy(Beginning& file, const Format& format);

/// Describes a raw file, with the type from `format`, its extension, or the default u1. Throws
/// Error(bad_input) if the file ends before `format.offset`.
Description describe_raw(const File& file, const Format& format);

}  // namespace ooc::detail
