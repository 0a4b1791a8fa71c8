#pragma once

#include <ooc/io/element_type.hpp>
#include <ooc/io/file.hpp>
#include <ooc/io/source.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ooc {

/// What a format knows about one file: which of its bytes are data, and of what type.
struct Description {
  DType type;
  std::string type_reason;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // of a raw file not always a whole number of elements
  std::vector<std::uint64_t> shape{};
  std::string version{};
  bool by_columns = false;
};

/// Whether it begins like a .npy file, or is at least named like one.
bool is_npy(const File& file);

/// Throws Error(bad_input) if the header is not understood or does not fit the file.
Description describe_npy(const File& file, const Format& format);

/// Throws Error(bad_input) if the file ends before `format.offset`.
Description describe_raw(const File& file, const Format& format);

}  // namespace ooc
