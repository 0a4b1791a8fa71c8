#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ooc/source.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.hpp"

namespace ooc_python {

/// A dataset that passes read: the `_ooc.Input` of Python. Immutable, and safe to use from several
/// threads.
struct Input {
  /// Opens elements of the same data as a source of their own, from index `first` on.
  using Part = std::function<ooc::Source(std::uint64_t first, std::uint64_t count)>;

  std::shared_ptr<const ooc::Source> source;
  Part part{};                          // null for a stream, and for a shard
  std::shared_ptr<const void> owner{};  // of the memory or descriptor that the source refers to
  int gpu = -1;                         // index of the GPU whose memory it is; else -1
  std::string doubt{};                  // why its type may be wrong; empty if it is plausible
};

constexpr std::string_view bool_code = "|b1";  // which the library reads in headers only

/// Returns the type of a code as Python has it. Throws Error(usage).
ooc::DType type_of(std::string_view code);

/// Returns a reference that any thread may drop, with or without the GIL.
std::shared_ptr<const void> owner_of(nb::object object);

/// Returns the lengths of the dimensions of an input. A shard has one.
std::vector<std::uint64_t> shape_of(const Input& input);

}  // namespace ooc_python
