#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/device/decoder.hpp>
#include <ooc/detail/operators/output_job.hpp>
#include <ooc/detail/operators/outputs.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>
#include <ooc/memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace ooc {

namespace detail {

struct CallAssign {
  template <class Op, class... Args>
  auto operator()(Op& op, Args&&... args) const -> decltype(op.assign(std::forward<Args>(args)...));
};

template <class Op, class Inputs>
inline constexpr Fit assign_fit_of = Fit::none;
template <class Op, class... Inputs>
inline constexpr Fit assign_fit_of<Op, std::tuple<Inputs...>> =
    fit_of<CallAssign, Op, Stream&, DeviceInput<Inputs>&..., DeviceSpan<std::uint16_t>>();

/// How assign() fits, with an argument for each type of the Input.
template <class Op>
inline constexpr Fit assign_fit = assign_fit_of<Op, typename RecordsOf<typename Op::Input>::Tuple>;

}  // namespace detail

/// Says to which of several outputs each record of a dataset goes. The operator is const.
///
///     struct ByLabel {
///       using Input = Particle;
///       void assign(ooc::Stream&, ooc::DeviceChunk<const Particle> in,
///                   ooc::DeviceSpan<std::uint16_t> outputs) const;
///     };
///
/// assign() enqueues work on the stream that writes the number of an output, from 0 on, to
/// `outputs` for each record of `in`. Input and optional members are as in a MapOperator. With an
/// Input of a std::tuple, the records of the first source are divided.
template <class Op>
concept SplitOperator = detail::Reads<Op> && detail::assign_fit<Op>
== detail::Fit::right;

namespace detail {

/// Says in one sentence why an operator is no SplitOperator.
template <class Op>
constexpr void explain_split() {
  if constexpr (!Reads<Op>) {
    explain_input<Op>();
  } else {
    constexpr Fit fit = assign_fit<Op>;
    static_assert(fit != Fit::not_void,
                  "assign() returns something, which is lost: it leaves the numbers of the outputs "
                  "in `outputs`, on the device");
    static_assert(fit != Fit::not_const,
                  "assign() of an operator must be const: write `void assign(...) const`");
    static_assert(fit != Fit::none,
                  "an operator of `Input = T` needs `void assign(ooc::Stream&, "
                  "ooc::DeviceChunk<const T> in, ooc::DeviceSpan<std::uint16_t> outputs) const`, "
                  "with ooc::DeviceRows for rows");
  }
}

/// Throws Error(usage) unless there are 1 to most_groups targets, all of one type.
OOC_API void require_split_targets(std::span<const Target> targets);

/// Returns the records of a step in which an output has a page on average, a power of two. Writes
/// of less take longer than the rest.
OOC_API std::size_t split_partition(std::size_t record_bytes, std::size_t outputs);

/// Returns the error for a record to which an operator has assigned none of the outputs.
OOC_API Error no_such_output(std::uint64_t record, std::size_t outputs);

/// The Operation of a split. An operator that does not know the type of its records has assign()
/// with the records of a step, without types. It may have two functions more: made() returns the
/// records of a step that the outputs get instead of those of the first input, or nothing; and
/// refuse() returns if records that are assigned to no output are left out.
template <class Op>
class Split final : public Operation {
 public:
  using Finder = SeenBy<Op>;
  using Value = Nothing;
  static constexpr bool is_merged_in_order = false;
  static Finder finder(const Op& op) { return Finder(op); }

  Split(const Op& op, std::size_t record_bytes, std::size_t outputs)
      : op_(op), outputs_(outputs), partition_(partition_of_calls<Op>(record_bytes)) {
    if constexpr (!HasPartitions<Op>) {
      partition_ = std::max(partition_, split_partition(record_bytes, outputs));
    }
  }

  void begin_with(std::span<const PassInput> inputs) {
    if constexpr (HasPartitions<Op>) require_whole_partitions(inputs, partition_);
  }
  std::size_t partition() const noexcept override { return partition_; }
  bool runs_on(DeviceKind kind) const noexcept override { return is_for<Op>(kind); }
  Margin margin() const noexcept override { return margin_of(op_); }
  bool selects() const noexcept override { return true; }
  std::size_t groups() const noexcept override { return outputs_; }
  void begin(std::size_t /*lane*/, Stream& /*stream*/) override {}
  void process(std::size_t /*lane*/, Stream& stream, const StepRecords& in,
               const StepResults& out) override {
    const Buffer numbers(stream.temporaries(), in.count * sizeof(std::uint16_t));
    const DeviceSpan<std::uint16_t> outputs{numbers.as<std::uint16_t>(), in.count};
    if constexpr (requires { op_.assign(stream, in, outputs); }) {
      op_.assign(stream, in, outputs);
    } else {
      const StepPart all{0, in.count, margin_of(op_)};
      call_with_inputs<typename Op::Input>(
          in, all, [&](auto... records) { op_.assign(stream, records..., outputs); });
    }
    const Buffer made = made_by_operator(stream, in);
    const auto [data, bytes] = in.inputs.front();
    std::size_t record_bytes = bytes / in.count_with_margin();
    const std::byte* records = data + in.margin.before * record_bytes;
    if (made.size() != 0) {
      records = made.as<std::byte>();
      record_bytes = made.size() / in.count;
    }
    decoder_of(stream).group({.target = out.outputs.front().data,
                              .source = records,
                              .record_bytes = record_bytes,
                              .count = in.count,
                              .groups = outputs.data,
                              .group_count = outputs_,
                              .sizes = out.made});
  }
  void end(std::size_t /*lane*/, Stream& /*stream*/) override {}

  void refuse(std::uint64_t record) const override {
    if constexpr (requires { op_.refuse(record); }) {
      op_.refuse(record);
    } else {
      throw no_such_output(record, outputs_);
    }
  }

  Found<Nothing> take_part(Cover cover) { return part_without_findings(op_, std::move(cover)); }

 private:
  Buffer made_by_operator(Stream& stream, const StepRecords& in) const {
    if constexpr (requires { op_.made(stream, in); }) {
      return op_.made(stream, in);
    } else {
      return {};
    }
  }

  const Op& op_;
  std::size_t outputs_;
  std::size_t partition_;
};

/// Divides the records of the first input among targets, which get records as `made` says. Returns
/// their numbers.
template <class Op>
Result<std::vector<std::uint64_t>> split_inputs(Coordinator& coordinator, const Op& op,
                                                std::span<const PassInput> inputs,
                                                const MadeRecords& made,
                                                std::span<const Target> targets,
                                                const PassOptions& wanted) {
  require_split_targets(targets);
  const std::vector<MadeRecords> each(targets.size(), made);
  const std::size_t widest = widest_record(inputs, {&made, 1});
  auto written = write_all<Split<Op>>(coordinator, op, inputs,
                                      {targets, each, widest, Purpose::append}, wanted);
  return {std::move(written.appended), std::move(written.stats)};
}

}  // namespace detail

/// Divides the records of a source among targets, of which an operator chooses one for each record.
/// All records of a target are in the order of the source. Returns their number for each target.
///
/// There are 1 to 4,096 targets, all of one type: .npy files of one dimension, or of rows, and raw
/// files. `Target::shape` must be empty. However many there are, a step takes the memory of one
/// output. The files are open at the same time: each takes one or two descriptors (`ulimit -n`).
/// The source is read once, from beginning to end. Disk space is allocated while the outputs grow;
/// if it runs out, nothing is left behind except the files of a Checkpoint. The files appear when
/// all of them are on the disk. The result has the same bits on every device. Throws Error: as
/// map(), and `usage` if the operator assigns an output that does not exist.
///
///     std::vector<ooc::Target> targets{{"a.npy"}, {"b.npy"}, {"c.npy"}};
///     const auto [counts, stats] = ooc::split(coordinator, ByLabel{}, particles, targets);
template <SplitOperator Op, detail::PassSource From>
Result<std::vector<std::uint64_t>> split(Coordinator& coordinator, const Op& op, const From& from,
                                         std::span<const Target> targets,
                                         const PassOptions& wanted = {}) {
  using Record = std::tuple_element_t<0, typename detail::RecordsOf<typename Op::Input>::Tuple>;
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  std::size_t columns = 1;
  if constexpr (detail::is_row<Record>) {
    columns = inputs[0].record.bytes / sizeof(typename detail::RecordView<Record>::Element);
  }
  return detail::split_inputs(coordinator, op, inputs, detail::made_as<Record>(columns), targets,
                              wanted);
}

/// Rejects invalid arguments: a compiler error says what is wrong with the operator or the data.
template <class Op, class From>
requires(!SplitOperator<Op> || !detail::PassSource<From>) Result<std::vector<std::uint64_t>> split(
    Coordinator& /*coordinator*/, const Op& /*op*/, const From& /*from*/,
    std::span<const Target> /*targets*/, const PassOptions& /*wanted*/ = {}) {
  if constexpr (detail::PassSource<From>) {
    detail::explain_split<Op>();
  } else {
    detail::explain_source<From>();
  }
  throw Error(ErrorKind::internal, "this does not compile");
}

}  // namespace ooc
