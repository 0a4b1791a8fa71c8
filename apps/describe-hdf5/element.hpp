#pragma once

#include <hdf5.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ooc_describe {

/// The type of the elements of a dataset.
struct Element {
  std::string code;     // NumPy's: "<f4"; empty if they cannot be read
  std::string why_not;  // what they are, if they cannot be read
};

/// Returns the type that libooc has for one of HDF5.
Element element_of(hid_t type);

/// Returns the value of an element, given its bytes as they are stored, so that none of its bits is
/// lost: an integer, true or false, or the bits of a floating-point number ("0x7fc00000").
nlohmann::json value_of(const std::string& code, const std::vector<unsigned char>& stored);

}  // namespace ooc_describe
