#pragma once

#include <ooc/device.hpp>
#include <ooc/io/target.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ooc {

/// The output of a pass: `record_bytes` for each record of the inputs, from the beginning of the
/// file's data. `swapped_bytes`: size of the values whose bytes are swapped on the way to the file,
/// or 0 if it has this machine's byte order.
struct Output {
  TargetFile& file;
  std::size_t record_bytes;
  std::size_t swapped_bytes = 0;
};

/// The number of records that an operation needs before and after those that it works on.
struct Margin {
  std::size_t before = 0, after = 0;

  bool is_empty() const noexcept { return before == 0 && after == 0; }
};

/// The records of a step, which are the same ones of each input.
struct StepRecords {
  std::uint64_t first = 0;  // place of the first one in the inputs
  std::size_t count = 0;
  Margin margin{};  // records around them in `inputs`: fewer than asked for at the ends of the data
  /// For each input, `margin.before + count + margin.after` records.
  std::span<const DeviceSpan<const std::byte>> inputs{};

  std::size_t count_with_margin() const noexcept { return margin.before + count + margin.after; }
};

/// The work of a pass on its data, without types. Operators get here through fold() and map().
class Operation {
 public:
  virtual ~Operation() = default;

  /// Records of a partition, a power of two: every step of the pass is whole partitions, but for
  /// the end of the source.
  virtual std::size_t partition() const noexcept { return 65536; }

  /// Records that a step is given in addition to its own, or more. The source is then read from
  /// beginning to end.
  virtual Margin margin() const noexcept { return {}; }

  /// True if the source is to be read from beginning to end.
  virtual bool in_order() const noexcept { return false; }

  /// Called on the lane's thread, before its first step.
  virtual void begin(std::size_t lane, Stream& stream) = 0;

  /// Works on one step. Each input is aligned to 256 bytes or to its records, and in this machine's
  /// byte order. `out` has room for a record of the output for each of the step, all of which are
  /// to be set; without an output it is empty. Each lane is given steps in the order of the pass,
  /// and any lane any step.
  virtual void process(std::size_t lane, Stream& stream, const StepRecords& in,
                       DeviceSpan<std::byte> out) = 0;

  /// Called on the lane's thread, after its last step.
  virtual void end(std::size_t lane, Stream& stream) = 0;

  /// The pass has failed: wakes lanes that wait for one another in the operation. Any thread.
  virtual void abort() noexcept {}
};

}  // namespace ooc
