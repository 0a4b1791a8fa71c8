#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>

// The structures of DLPack 1.1 that nanobind has not.

namespace ooc_python::dlpack {

using nanobind::dlpack::dltensor;

/// The contents of a capsule "dltensor".
struct Managed {
  dltensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

/// The contents of a capsule "dltensor_versioned".
struct ManagedVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  dltensor tensor;
};

constexpr std::uint64_t read_only = 1, is_copied = 2;  // flags

}  // namespace ooc_python::dlpack
