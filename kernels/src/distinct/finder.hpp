#pragma once

#include <ooc/device.hpp>
#include <ooc/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "distinct/bitmap.hpp"
#include "distinct/sketch.hpp"
#include "distinct/table.hpp"

namespace ooc::detail::distincts {

/// The findings of a lane, besides the entries of the table.
struct Seen {
  Sketch sketch{};  // of all values but NaN, or of those that it was the first to mark
  std::uint64_t nan = 0;
  std::uint64_t zeros = 0;  // of both signs
};

/// Finds the distinct values of a lane: it adds them to a table, or marks them in a bitmap, which
/// other lanes may share, and adds them to a sketch. It goes on with the sketch alone when the
/// table is full. Used by one thread.
class Finder {
 public:
  virtual ~Finder() = default;

  /// Looks at the elements of a chunk.
  virtual void look(Stream& stream, DeviceSpan<const std::byte> data) = 0;

  /// Adds what is left to the table, or counts it, and returns what was seen. Called once, at the
  /// end.
  virtual Seen finish(Stream& stream) = 0;
};

/// Host memory of a lane (bytes).
std::size_t lane_bytes(ElementType type);

/// The same for a lane that marks values.
inline constexpr std::size_t marker_bytes = sizeof(Seen) + 4096;

// For all, no table means that the number of values is only estimated. What is given must outlive
// the finder.

/// Counts elements of one or two bytes by their value, on the CPU or a GPU.
std::unique_ptr<Finder> make_small_finder(ElementType type, Table* table, Stream& stream);

std::unique_ptr<Finder> make_cpu_finder(ElementType type, Table* table);

/// `left`: where the lanes of a GPU leave their values at the end; null if they move to the table.
std::unique_ptr<Finder> make_cuda_finder(ElementType type, Table* table, CountedValues* left,
                                         Stream& stream);

/// Makes what lanes of a GPU leave their values in. Those move to the table if memory is short.
std::unique_ptr<CountedValues> make_cuda_left_values();

// For values of four bytes, which are marked.
std::unique_ptr<Finder> make_cpu_marker(ElementType type, Bitmap& bitmap);
std::unique_ptr<Finder> make_cuda_marker(ElementType type, Bitmap& bitmap, Stream& stream);

}  // namespace ooc::detail::distincts
