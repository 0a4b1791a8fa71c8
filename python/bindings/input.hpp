#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ooc/source.hpp>

#include "bindings.hpp"

namespace ooc_python {

/// A dataset that passes read: the `_ooc.Input` of Python. Immutable, and safe to use from several
/// threads.
struct Input {
  /// Opens elements of the same data as a source of their own, from index `first` on.
  using Part = std::function<ooc::Source(std::uint64_t first, std::uint64_t count)>;

  std::shared_ptr<const ooc::Source> source;
  Part part{};         // null for a stream, and for a shard
  nb::object owner{};  // of the memory or the descriptor that the source refers to; may be null
};

}  // namespace ooc_python
