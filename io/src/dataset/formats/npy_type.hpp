#pragma once

#include <ooc/dtype.hpp>
#include <ooc/error.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ooc::detail {

/// A field as the header of a .npy file declares it.
struct NpyField {
  std::string name, code;
  std::vector<std::uint64_t> shape;
};

/// The type that a header declares: the code of an element or, if there are fields, a struct.
struct NpyDescr {
  std::string code;
  std::vector<NpyField> fields;
};

/// Returns a name or a type code in quotes for a message. Truncated, because a malicious header can
/// make it long.
std::string in_quotes(const std::string& text);

Error not_understood(const std::filesystem::path& file, const std::string& problem,
                     const std::string& hint = {});

/// Returns the error for a struct without fields, or with padding only.
Error no_fields(const std::filesystem::path& file);

/// Returns the declared type. Throws Error(bad_input) that names a field that is not supported.
DType npy_type(const std::filesystem::path& file, const NpyDescr& descr);

}  // namespace ooc::detail
