#pragma once

#include <ooc/detail/base/dtype.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/source.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ooc {

/// A file as its format describes it: which bytes are data, and their type.
struct Description {
  DType type;
  std::string type_reason;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // for raw files not always a whole number of elements
  std::vector<std::uint64_t> shape{};
  std::string version{};
  bool by_columns = false;
};

/// True if the file begins like a .npy file or has that extension. Throws Error as
/// begins_like_npy().
bool is_npy(const File& file);

/// Parses the header of a .npy file. Throws Error: `usage` if `format` has an offset; `bad_input`
/// if the header cannot be parsed, or contradicts the size of the file or `format`; `input` if it
/// cannot be read.
Description describe_npy(const File& file, const Format& format);

/// Describes a raw file, with the type from `format`, its extension, or the default u1. Throws
/// Error(bad_input) if the file ends before `format.offset`.
Description describe_raw(const File& file, const Format& format);

}  // namespace ooc
