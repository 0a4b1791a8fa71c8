#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/device.hpp>
#include <ooc/memory.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ooc::detail {

/// A file that a pass writes.
struct Output {
  TargetFile& file;          ///< the open file, which outlives the pass
  std::size_t record_bytes;  ///< size of each record that is made
  /// Size of the values whose bytes are swapped on the way to the file, or 0 if it has this
  /// machine's byte order.
  std::size_t swapped_bytes = 0;
  /// Records of the file before those of the pass, unless it is appended to.
  std::uint64_t records_before = 0;
};

/// The number of records that an operation needs before and after those that it works on.
struct Margin {
  std::size_t before = 0;  ///< before them
  std::size_t after = 0;   ///< after them

  /// True if it needs none.
  bool is_empty() const noexcept { return before == 0 && after == 0; }
};

/// The records of a step, which are the same ones of each input.
struct StepRecords {
  std::size_t index = 0;    ///< of the step, in the order of the pass
  std::uint64_t first = 0;  ///< index of the first one in the inputs or, for sections, in the
                            ///< whole sources
  std::size_t count = 0;    ///< number of records, without the margin
  /// Records around them in `inputs`: fewer than asked for at the ends of the data.
  Margin margin{};
  /// For each input, `margin.before + count + margin.after` records.
  std::span<const DeviceSpan<const std::byte>> inputs{};

  /// Returns the number of records, with the margin.
  std::size_t count_with_margin() const noexcept { return margin.before + count + margin.after; }
};

/// Room on the device for the results of a step.
struct StepResults {
  /// For each output, one record for each of the step; one room for all outputs if the operation
  /// divides records (see Operation::groups()).
  std::span<const DeviceSpan<std::byte>> outputs{};
  /// If the operation selects, the number of records that it makes for each output. If it divides
  /// records, then the index in the step of the first record that no output takes, if any.
  std::uint64_t* made = nullptr;
};

/// The way in which an operation lends the steps of its pass to another thread.
struct Lending {
  std::size_t step_records = 0;                 ///< of each step but the last; 0: the pass chooses
  std::optional<std::uint64_t> shuffle_seed{};  ///< if set, steps are shuffled first
  std::size_t shard = 0;                        ///< the first step that is lent
  std::size_t shards = 1;                       ///< every so-many-th step is lent
  std::size_t skip = 0;                         ///< steps of these that are left out at first

  /// True if all steps are lent, in the order of the data.
  bool is_everything() const noexcept { return !shuffle_seed && shards == 1 && skip == 0; }
};

/// The work of a pass on its data, without types. fold(), map() and others wrap operators in it.
class OOC_API Operation {
 public:
  virtual ~Operation() = default;

  /// Returns the number of records of a partition, a power of two. Every step is whole partitions,
  /// except at the end of the source.
  virtual std::size_t partition() const noexcept { return 65536; }

  /// Returns the margin that each step needs; a step may get a larger one. The source is then read
  /// from beginning to end.
  virtual Margin margin() const noexcept { return {}; }

  /// Returns the host memory that the operation takes; the default is none.
  virtual HostBytes host_bytes() const noexcept { return {}; }

  /// True if the source is to be read from beginning to end.
  virtual bool in_order() const noexcept { return false; }

  /// True if the operation makes at most as many records as a step has. It sets their number in
  /// StepResults::made, and the results of each step follow those of the step before in the file.
  /// The pass then appends to its outputs, which must have been opened for that.
  virtual bool selects() const noexcept { return false; }

  /// If not 0, the operation selects by dividing the records of each step among so many outputs,
  /// all of one type: their records follow one another in one room.
  virtual std::size_t groups() const noexcept { return 0; }

  /// Throws the error for a record, by its index in the source, that no output takes. Returns if
  /// such records are left out.
  virtual void refuse(std::uint64_t /*record*/) const {}

  /// True if devices of different kinds may work on the same pass: their findings have the same
  /// bits, and can be merged. Devices of one kind may always share a pass.
  virtual bool mixes_devices() const noexcept { return false; }

  /// True if it runs on devices of a kind.
  virtual bool runs_on(DeviceKind /*kind*/) const noexcept { return true; }

  /// The number of records of a pass without inputs.
  virtual std::uint64_t records() const noexcept { return 0; }

  /// Set if process() returns only when another thread has given the step back. A lane then has no
  /// step beside that one.
  virtual std::optional<Lending> lending() const noexcept { return {}; }

  /// Called once before all others below, with the numbers of lanes and of steps. There may be
  /// fewer of either if several devices share the pass, and fewer steps of a producer.
  virtual void prepare(std::size_t /*lanes*/, std::size_t /*steps*/) {}

  /// Called on the lane's thread, before its first step.
  virtual void begin(std::size_t lane, Stream& stream) = 0;

  /// Works on one step. Each input is aligned to 256 bytes or to its records, and in this machine's
  /// byte order. All records of `out` are to be set, unless the operation selects. Each lane is
  /// given steps in the order of the pass, and any lane any step.
  virtual void process(std::size_t lane, Stream& stream, const StepRecords& in,
                       const StepResults& out) = 0;

  /// Called on the lane's thread, after its last step.
  virtual void end(std::size_t lane, Stream& stream) = 0;

  /// The pass has failed: wakes lanes that wait for one another in the operation. Any thread.
  virtual void abort() noexcept {}
};

}  // namespace ooc::detail
