#pragma once

#include <ooc/detail/operators/output_job.hpp>
#include <ooc/detail/operators/outputs.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>
#include <ooc/memory.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ooc {

namespace detail {

struct CallBegin {
  template <class Op, class... Args>
  auto operator()(Op& op, Args&&... args) const -> decltype(op.begin(std::forward<Args>(args)...));
};
struct CallJoin {
  template <class Op, class... Args>
  auto operator()(Op& op, Args&&... args) const -> decltype(op.join(std::forward<Args>(args)...));
};
struct CallFinish {
  template <class Op, class... Args>
  auto operator()(Op& op, Args&&... args) const -> decltype(op.finish(std::forward<Args>(args)...));
};

/// How the functions of a scan fit.
struct ScanFit {
  Fit begin = Fit::none, join = Fit::none, finish = Fit::none;

  constexpr bool any_is(Fit fit) const { return begin == fit || join == fit || finish == fit; }
  bool operator==(const ScanFit&) const = default;
};

template <class Op, class Inputs, class Outputs>
inline constexpr ScanFit scan_fit_of{};
template <class Op, class... Inputs, class... Outputs>
inline constexpr ScanFit scan_fit_of<Op, std::tuple<Inputs...>, std::tuple<Outputs...>> = {
    fit_of<CallBegin, Op, Stream&, DeviceInput<Inputs>&..., DeviceOutput<Outputs>&...,
           typename Op::Carry*>(),
    fit_of<CallJoin, Op, Stream&, const typename Op::Carry*, const typename Op::Carry*,
           typename Op::Carry*>(),
    fit_of<CallFinish, Op, Stream&, DeviceOutput<Outputs>&..., const typename Op::Carry*>()};

template <class Op>
inline constexpr ScanFit scan_fit = scan_fit_of<Op, typename RecordsOf<typename Op::Input>::Tuple,
                                                typename RecordsOf<typename Op::Output>::Tuple>;

/// An operator with a carry, which memcpy() may copy.
template <class Op>
concept Carries = requires {
  typename Op::Carry;
}
&&std::is_trivially_copyable_v<typename Op::Carry>&& std::default_initializable<typename Op::Carry>;

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
/// begin() works on a partition alone, and writes the carry of that partition to `*own`, which is
/// Carry{} before. join() combines the carry of all earlier partitions with that of this one.
/// finish() completes the results. The carries are device memory, of a type that memcpy() may copy;
/// the functions enqueue their work on the stream. Partitions are joined one after another; begin()
/// and finish() of several overlap, and the host waits for no carry.
///
/// Partitions are as in a fold (see Merge::by_partition). If the functions compute the same bits
/// each time, the results have the same bits for all sizes of chunks and numbers of streams. (Scans
/// of floating-point numbers by Thrust or CUB may differ on a GPU.) Input, Output and
/// `partial_name` are as those of a MapOperator.
template <class Op>
concept ScanOperator =
    detail::Reads<Op> && detail::Makes<Op> && detail::Carries<Op> && detail::scan_fit<Op>
== detail::ScanFit{detail::Fit::right, detail::Fit::right, detail::Fit::right};

namespace detail {

/// Says in one sentence why an operator is no ScanOperator.
template <class Op>
constexpr void explain_scan() {
  if constexpr (!Reads<Op>) {
    explain_input<Op>();
  } else if constexpr (!Makes<Op>) {
    explain_output<Op>();
  } else if constexpr (!Carries<Op>) {
    static_assert(is_right<Op>,
                  "an operator of a scan has a `using Carry = double;`, which begins as Carry{}, "
                  "and which memcpy() may copy");
  } else {
    constexpr ScanFit fit = scan_fit<Op>;
    constexpr bool fits = !fit.any_is(Fit::not_const) && !fit.any_is(Fit::not_void);
    static_assert(!fit.any_is(Fit::not_const),
                  "begin(), join() and finish() of an operator must be const: write `void "
                  "begin(...) const`");
    static_assert(!fit.any_is(Fit::not_void),
                  "begin(), join() and finish() return nothing: what they compute is in `out`, "
                  "`*own` and `*after`, on the device");
    static_assert(!fits || fit.begin == Fit::right,
                  "an operator of `Input = T` and `Output = U` needs `void begin(ooc::Stream&, "
                  "ooc::DeviceChunk<const T> in, ooc::DeviceChunk<U> out, Carry* own) const`");
    static_assert(!fits || fit.begin != Fit::right || fit.join == Fit::right,
                  "an operator of a scan needs `void join(ooc::Stream&, const Carry* before, const "
                  "Carry* own, Carry* after) const`");
    static_assert(
        !fits || fit.begin != Fit::right || fit.join != Fit::right || fit.finish == Fit::right,
        "an operator of `Output = U` needs `void finish(ooc::Stream&, "
        "ooc::DeviceChunk<U> out, const Carry* before) const`");
  }
}

/// The carry after the last of some records, as the result of a fold.
template <class Carry>
struct LastCarry {
  Carry carry{};
  std::uint64_t records = 0;  // number of records up to the last of these
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

/// The Operation of a scan.
template <ScanOperator Op>
class Scan final : public Operation {
 public:
  using Carry = typename Op::Carry;
  using Finder = CarryAfter<Op>;
  using Value = LastCarry<Carry>;
  static constexpr bool is_merged_in_order = false;
  static Finder finder(const Op& op) { return Finder(op); }

  /// `record_bytes`: of the inputs or of the outputs, whichever is larger.
  Scan(const Op& op, Coordinator& coordinator, std::size_t record_bytes)
      : op_(op),
        device_(coordinator.device()),
        partition_(partition_of<Op>(coordinator.device().facts(), record_bytes)) {}

  /// Continues with the carry after the records before the inputs.
  void begin_after(const Value& last) { first_.carry = last.carry; }

  std::size_t partition() const noexcept override { return partition_; }
  bool runs_on(DeviceKind kind) const noexcept override { return is_for<Op>(kind); }
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
  Found<Value> take_part(Cover cover) {
    const Finder finder(op_);
    auto part = std::make_unique<PartOf<Finder>>(finder);
    for (const Lane& lane : lanes_) part->add(0, 0, lane.last);
    return {std::move(cover), std::move(part)};
  }

 private:
  struct Carries {
    const Carry* initial;  // Carry{}, for each partition of a step
    Carry* own;            // what each partition adds
    Carry* before;         // the carry before each partition, and after the last one
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
/// The source is read once, from beginning to end. Returns the number of records written. Throws
/// Error as map().
///
///     ooc::scan(coordinator, RunningSum{}, counts, {"sums.npy"});
template <ScanOperator Op, detail::PassSource From>
Result<std::uint64_t> scan(Coordinator& coordinator, const Op& op, const From& from,
                           const TargetsOf<Op>& targets, const PassOptions& wanted = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  return detail::written_by<detail::Scan<Op>>(coordinator, op, inputs, targets, wanted);
}

/// Rejects invalid arguments: a compiler error says what is wrong with the operator or the data.
template <class Op, class From>
requires(!ScanOperator<Op> || !detail::PassSource<From>) Result<std::uint64_t> scan(
    Coordinator& /*coordinator*/, const Op& /*op*/, const From& /*from*/,
    const typename detail::AnyTargets<Op>::type& /*targets*/, const PassOptions& /*wanted*/ = {}) {
  if constexpr (detail::PassSource<From>) {
    detail::explain_scan<Op>();
  } else {
    detail::explain_source<From>();
  }
  throw Error(ErrorKind::internal, "this does not compile");
}

}  // namespace ooc
