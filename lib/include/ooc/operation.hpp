#pragma once

#include <ooc/device.hpp>
#include <ooc/io/target.hpp>

#include <cstddef>
#include <cstdint>

namespace ooc {

/// The output of a pass: `element_bytes` for each element of the source, from the beginning of the
/// file's data.
struct Output {
  TargetFile& file;
  std::size_t element_bytes;
  bool swapped;  // not in this machine's byte order
};

/// The work of a pass on its data, without types. Operators get here through fold() and map().
class Operation {
 public:
  virtual ~Operation() = default;

  /// Elements of a partition, a power of two: every step of the pass is whole partitions, but for
  /// the end of the source.
  virtual std::size_t partition() const noexcept { return 65536; }

  /// True if the source is to be read from beginning to end.
  virtual bool in_order() const noexcept { return false; }

  /// Called on the lane's thread, before its first step.
  virtual void begin(std::size_t lane, Stream& stream) = 0;

  /// Works on one step. `data` is aligned to 256 bytes or to the element, and in this machine's
  /// byte order; `first_byte` is its place in the source. `out` has room for as many elements of
  /// the output, all of which are to be set; without an output it is empty. Each lane is given
  /// steps in the order of the pass, and any lane any step.
  virtual void process(std::size_t lane, Stream& stream, DeviceSpan<const std::byte> data,
                       std::uint64_t first_byte, DeviceSpan<std::byte> out) = 0;

  /// Called on the lane's thread, after its last step.
  virtual void end(std::size_t lane, Stream& stream) = 0;

  /// The pass has failed: wakes lanes that wait for one another in the operation. Any thread.
  virtual void abort() noexcept {}
};

}  // namespace ooc
