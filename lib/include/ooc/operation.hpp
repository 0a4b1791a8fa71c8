#pragma once

#include <ooc/device.hpp>
#include <ooc/io/target.hpp>

#include <cstddef>
#include <cstdint>

namespace ooc {

/// Elements of a tile, the unit in which floating-point results are built up: chunks are cut at
/// multiples of it, so that results depend on the data alone.
inline constexpr std::size_t tile_elements = 65536;

/// Where a pass writes: `element_bytes` for each element of the source, from where the data of the
/// file begins.
struct Output {
  TargetFile& file;
  std::size_t element_bytes;
  bool swapped;  // not in this machine's byte order
};

/// What a pass does with each chunk, free of types. Operators get here through fold() and map().
class Operation {
 public:
  virtual ~Operation() = default;

  /// On the lane's thread, before its first chunk.
  virtual void begin(std::size_t lane, Stream& stream) = 0;

  /// `data` is aligned to 256 bytes or to the element, and in this machine's byte order;
  /// `first_byte` says where in the source it begins. `out` has room for as many elements of the
  /// output, all of which are to be set; without an output it is empty.
  virtual void process(std::size_t lane, Stream& stream, DeviceSpan<const std::byte> data,
                       std::uint64_t first_byte, DeviceSpan<std::byte> out) = 0;

  /// On the lane's thread, after its last chunk.
  virtual void end(std::size_t lane, Stream& stream) = 0;

  /// Whether it is the same to the result, to the bit, which lane takes which chunks. Chunk k is
  /// lane k % lanes's otherwise; lanes of the CPU that load their own chunks are faster if each may
  /// take the next one whenever it is free.
  virtual bool takes_any_chunk() const noexcept { return false; }
};

}  // namespace ooc
