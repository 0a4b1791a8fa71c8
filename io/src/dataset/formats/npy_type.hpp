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

/// Returns the error for a struct without fields, or with padding only.
Error no_fields(const std::filesystem::path& file);

/// Returns the declared type. Throws Error(bad_input) that names a field that is not supported.
DType npy_type(const std::filesystem::path& file, const NpyDescr& descr);

}  // namespace ooc::detail
