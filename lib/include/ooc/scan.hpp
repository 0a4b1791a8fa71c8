#pragma once

#include <ooc/detail/device/buffer.hpp>
#include <ooc/detail/operators/output_job.hpp>
#include <ooc/detail/operators/outputs.hpp>
#include <ooc/fold.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ooc {

namespace detail {

template <class Op, class Inputs, class Outputs>
inline constexpr bool scans_all = false;
template <class Op, class... Inputs, class... Outputs>
inline constexpr bool scans_all<Op, std::tuple<Inputs...>, std::tuple<Outputs...>> =
    requires(Op& op, Stream& stream, DeviceInput<Inputs>... in, DeviceOutput<Outputs>... out,
             const typename Op::Carry* before, typename Op::Carry* carry) {
  op.begin(stream, in..., out..., carry);
  op.join(stream, before, before, carry);
  op.finish(stream, out..., before);
};

template <class Op>
inline constexpr bool scans = scans_all<Op, typename RecordsOf<typename Op::Input>::Tuple,
                                        typename RecordsOf<typename Op::Output>::Tuple>;

}  // namespace detail

/// A map whose result depends on all records before, such as a running sum. The operator is const.
///
///     struct RunningSum {
///       using Input = std::int32_t;
///       using Output = std::int64_t;
///       using Carry = std::int64_t;  // Carry{} comes before the first partition
///       void begin(ooc::Stream&, ooc::DeviceChunk<const std::int32_t> in,
///                  ooc::DeviceSpan<std::int64_t> out, Carry* own) const;
///       void join(ooc::Stream&, const Carry* before, const Carry* own, Carry* after) const;
///       void finish(ooc::Stream&, ooc::DeviceSpan<std::int64_t> out, const Carry* before) const;
///     };
///
/// begin() works on a partition by itself, and leaves in `*own`, which is Carry{} before, what it
/// adds; join() turns the carry of all partitions before into that of these and this one; finish()
/// completes the results. The carries are memory of the device, of a type that memcpy() may copy;
/// the functions enqueue their work on the stream. Partitions are joined one after another; begin()
/// and finish() of several overlap, and the host waits for no carry.
///
/// Partitions are as in a fold (see Merge::by_partition). So if the functions have the same bits
/// each time, the results do, whatever the size of chunks and the number of streams. (Scans of
/// floating point numbers by Thrust or CUB need not have on a GPU.) Input, Output and
/// `partial_name` are as those of a MapOperator.
template <class Op>
concept ScanOperator = detail::HasRecords<Op> && detail::scans<const Op>;

namespace detail {

/// An operator but for a missing const.
template <class Op>
concept ScanLacksConst = HasRecords<Op> && !ScanOperator<Op> && scans<Op>;

/// The carry after some of the records, as a fold finds it: the last one.
template <class Carry>
struct LastCarry {
  Carry carry{};
  std::uint64_t records = 0;  // before and with those after which it is the carry
};
template <class Op>
class CarryAfter {
 public:
  using Input = typename Op::Input;
  using Partial = LastCarry<typename Op::Carry>;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr std::string_view partial_name = Op::partial_name;

  explicit CarryAfter(const Op& op) : question_(question_of(op)) {}

  std::string question() const { return question_; }
  void merge(Partial& total, const Partial& part) const {
    if (part.records > total.records) total = part;
  }

 private:
  std::string question_;
};

/// The Operation that a scan is.
template <ScanOperator Op>
class Scan final : public Operation {
 public:
  using Carry = typename Op::Carry;
  using Finder = CarryAfter<Op>;
  using Value = LastCarry<Carry>;
  static constexpr bool is_merged_in_order = false;
  static Finder finder(const Op& op) { return Finder(op); }
  static_assert(std::is_trivially_copyable_v<Carry>, "a Carry is copied by memcpy()");

  /// `record_bytes`: of the inputs or of the outputs, whichever is larger.
  Scan(const Op& op, Coordinator& coordinator, std::size_t record_bytes)
      : op_(op),
        device_(coordinator.device()),
        partition_(partition_of<Op>(coordinator.device().facts(), record_bytes)) {}

  /// Goes on after the records before the inputs.
  void begin_after(const Value& last) { first_.carry = last.carry; }

  std::size_t partition() const noexcept override { return partition_; }
  Margin margin() const noexcept override { return margin_of(op_); }
  bool in_order() const noexcept override { return true; }
  void prepare(std::size_t lanes, std::size_t /*steps*/) override {
    lanes_ = std::vector<Lane>(lanes);
  }

  void begin(std::size_t lane, Stream& stream) override {
    lanes_[lane].stream = &stream;
    lanes_[lane].joined = device_.make_event();
  }

  void process(std::size_t lane, Stream& stream, const StepRecords& in,
               const StepResults& out) override {
    Lane& mine = lanes_[lane];
    const std::size_t partitions = (in.count + partition_ - 1) / partition_;
    const auto [initial, own, before] = mine.carries_for(partitions, initial_);
    stream.copy(own, initial, partitions * sizeof(Carry));
    const auto part_of = [&](std::size_t i) {
      const std::size_t offset = i * partition_;
      return StepPart{offset, std::min(partition_, in.count - offset), margin_of(op_)};
    };
    for (std::size_t i = 0; i < partitions; ++i) {
      call_with_records<Op>(in, out, part_of(i), [&, part = own + i](auto... records) {
        op_.begin(stream, records..., part);
      });
    }
    order_.wait_for(in.index);
    if (latest_ == nullptr) {
      stream.copy(before, &first_.carry, sizeof(Carry));
    } else {
      stream.wait(*latest_->joined);
      // Copied, since that lane may join its next step before this one finishes.
      stream.copy(before, latest_->after, sizeof(Carry));
    }
    for (std::size_t i = 0; i < partitions; ++i) {
      op_.join(stream, before + i, own + i, before + i + 1);
    }
    stream.record(*mine.joined);
    mine.after = before + partitions;
    mine.records = in.first + in.count;
    latest_ = &mine;
    order_.through(in.index);
    for (std::size_t i = 0; i < partitions; ++i) {
      call_with_outputs<Op>(in, out, part_of(i), [&, carry = before + i](auto... room) {
        op_.finish(stream, room..., std::as_const(carry));
      });
    }
  }

  void end(std::size_t index, Stream& stream) override {
    Lane& mine = lanes_[index];
    if (mine.after == nullptr) return;
    stream.copy(&mine.last.carry, mine.after, sizeof(Carry));
    stream.synchronize();
    mine.last.records = mine.records;
  }
  void abort() noexcept override { order_.abort(); }

  /// Returns the carry after the records that the pass has covered.
  Part<Value> take_part(Cover cover) {
    const Finder finder(op_);
    auto part = std::make_unique<PartOf<Finder>>(finder);
    for (const Lane& lane : lanes_) part->add(0, 0, lane.last);
    return {std::move(cover), std::move(part)};
  }

 private:
  struct Carries {
    const Carry* initial;  // Carry{}, for each partition of a step
    Carry* own;            // what each partition adds
    Carry* before;         // of all that is before each partition, and of all with the last one
  };

  struct Lane {
    Stream* stream = nullptr;
    std::unique_ptr<Event> joined;
    Buffer memory{};               // stays until all lanes have ended: others read it
    const Carry* after = nullptr;  // of the step that this lane joined last
    std::uint64_t records = 0;     // before and in that step
    Value last{};                  // the same on the host, after the last step

    /// No step of a lane is longer than its first one, so this allocates once.
    Carries carries_for(std::size_t partitions, const Carry& first) {
      if (memory.size() == 0) {
        memory = Buffer(stream->temporaries(), (3 * partitions + 1) * sizeof(Carry));
        for (std::size_t i = 0; i < partitions; ++i) {
          stream->copy(memory.template as<Carry>() + i, &first, sizeof(Carry));
        }
      }
      Carry* const initial = memory.template as<Carry>();
      return {initial, initial + partitions, initial + 2 * partitions};
    }
  };

  const Op& op_;
  Device& device_;
  std::size_t partition_;
  std::vector<Lane> lanes_;
  Carry initial_{};
  Value first_{};  // before the first step
  PartitionOrder order_;
  Lane* latest_ = nullptr;  // of the step that was joined last
};

}  // namespace detail

/// Scans a source with an operator, and writes to a target, or to each of several, as map() does.
/// The source is read once, from beginning to end. Throws Error as map().
///
///     ooc::scan(coordinator, RunningSum{}, counts, {"sums.npy", ooc::type_of<std::int64_t>()});
template <ScanOperator Op, detail::PassSource From>
Stats scan(Coordinator& coordinator, const Op& op, const From& from, const TargetsOf<Op>& targets,
           const PassOptions& wanted = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  return detail::write_files<detail::Scan<Op>>(coordinator, op, inputs, targets, wanted).stats;
}

/// Says what is missing where an operator's functions are not const.
template <detail::ScanLacksConst Op, detail::PassSource From, class... Others>
Stats scan(Coordinator&, const Op&, const From&, const TargetsOf<Op>&, const Others&...) {
  static_assert(ScanOperator<Op>,
                "begin(), join() and finish() of an operator must be const: write `void begin(...) "
                "const`");
  return {};
}

}  // namespace ooc
