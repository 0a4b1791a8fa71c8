#pragma once

#include <ooc/device.hpp>
#include <ooc/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "distinct/sketch.hpp"
#include "distinct/table.hpp"

namespace ooc::detail::distincts {

/// The findings of a lane, besides the entries of the table.
struct Seen {
  Sketch sketch{};  // of all values but NaN
  std::uint64_t nan = 0;
  std::uint64_t zeros = 0;  // of both signs
};

/// Finds the distinct values of a lane: it adds them to a table, which other lanes may share, and
/// to a sketch. It goes on with the sketch alone when the table is full. Used by one thread.
class Finder {
 public:
  virtual ~Finder() = default;

  /// Looks at the elements of a chunk.
  virtual void look(Stream& stream, DeviceSpan<const std::byte> data) = 0;

  /// Adds what is left to the table, and returns what was seen. Called once, at the end.
  virtual Seen finish(Stream& stream) = 0;
};

/// Host memory of a lane (bytes).
std::size_t lane_bytes(ElementType type);

// For both, no table means that the number of values is only estimated. A table must outlive the
// finder.

/// Counts elements of one or two bytes by their value, on the CPU or a GPU.
std::unique_ptr<Finder> make_small_finder(ElementType type, Table* table, Stream& stream);

std::unique_ptr<Finder> make_cpu_finder(ElementType type, Table* table);
std::unique_ptr<Finder> make_cuda_finder(ElementType type, Table* table, Stream& stream);

}  // namespace ooc::detail::distincts
