#pragma once

#include <ooc/detail/operators/fold_operation.hpp>
#include <ooc/detail/operators/output_job.hpp>
#include <ooc/detail/operators/outputs.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

namespace ooc {

namespace detail {

struct CallTransform {
  template <class Op, class... Args>
  auto operator()(Op& op, Args&&... args) const
      -> decltype(op.transform(std::forward<Args>(args)...));
};

/// How transform() fits, with an argument for each type of the Input and of the Output. That of a
/// GatheringMapOperator has another argument for its Partial.
template <class Op, class Inputs, class Outputs, class... Partials>
inline constexpr Fit transform_fit_of = Fit::none;
template <class Op, class... Inputs, class... Outputs, class... Partials>
inline constexpr Fit
    transform_fit_of<Op, std::tuple<Inputs...>, std::tuple<Outputs...>, Partials...> =
        fit_of<CallTransform, Op, Stream&, DeviceInput<Inputs>&..., DeviceOutput<Outputs>&...,
               Changed<Partials>...>();

template <class Op, class... Partials>
inline constexpr Fit transform_fit =
    transform_fit_of<Op, typename RecordsOf<typename Op::Input>::Tuple,
                     typename RecordsOf<typename Op::Output>::Tuple, Partials...>;

/// An operator that reads records and makes records.
template <class Op>
concept Converts = Reads<Op> && Makes<Op>;

}  // namespace detail

/// Turns each element of a dataset into an element of a file. The operator is const.
///
///     struct Halve {
///       using Input = float;
///       using Output = float;
///       void transform(ooc::Stream&, ooc::DeviceChunk<const float> in,
///                      ooc::DeviceSpan<float> out) const;
///     };
///
/// `out` has as many records as `in`, and all of it must be set. Input and Output may be rows (see
/// Row). An Input of a std::tuple is read from several sources (see zip()), one argument for each;
/// an Output of a std::tuple is written to as many targets, one argument for each. The rows of the
/// output are as long as those of the inputs, or as `std::size_t output_columns(std::size_t
/// columns) const` says; with several outputs it returns a std::array of a number for each. A map
/// may have neighbours of its input (`before()`, `after()`), `runs_on`, and `partition_records`, of
/// which a call gets one or several, as a FoldOperator may. An operator that also gathers a value
/// on the way is a GatheringMapOperator.
///
/// With `static constexpr std::string_view partial_name`, which must change when the output of the
/// operator does, a map can have a Checkpoint. `std::string question() const` then returns the
/// settings that determine the output: a job resumes only with the same ones.
template <class Op>
concept MapOperator = detail::Converts<Op> && detail::transform_fit<Op>
== detail::Fit::right;

/// A map that is a fold too: it has a Partial and merge(), and all that a FoldOperator may have. As
/// a SavableFold, it can have a Checkpoint. `void check(const Partial& total) const`, if it has
/// that, may throw: the file is then not written.
template <class Op>
concept GatheringMapOperator =
    detail::Converts<Op> && detail::Merges<Op> && detail::transform_fit<Op, typename Op::Partial>
== detail::Fit::right;

namespace detail {

/// Says why an operator is no MapOperator and no GatheringMapOperator, in one sentence.
template <class Op>
constexpr void explain_map() {
  if constexpr (!Reads<Op>) {
    explain_input<Op>();
  } else if constexpr (!Makes<Op>) {
    explain_output<Op>();
  } else {
    constexpr Fit fit = transform_fit<Op>;
    constexpr Fit gathering = [] {
      if constexpr (HasPartial<Op>) return transform_fit<Op, typename Op::Partial>;
      return Fit::none;
    }();
    static_assert(gathering != Fit::by_value,
                  "transform() takes its Partial by value, so what it adds is lost: write "
                  "`Partial& partial`");
    static_assert(fit != Fit::not_void && gathering != Fit::not_void,
                  "transform() returns something, which is lost: it sets all of `out`");
    static_assert(fit != Fit::not_const && gathering != Fit::not_const,
                  "transform() of an operator must be const: write `void transform(...) const`");
    static_assert(fit != Fit::none || gathering != Fit::none,
                  "an operator of `Input = T` and `Output = U` needs `void transform(ooc::Stream&, "
                  "ooc::DeviceChunk<const T> in, ooc::DeviceChunk<U> out) const`, with "
                  "ooc::DeviceRows for rows; one that gathers takes a `Partial& partial` too");
    if constexpr (gathering == Fit::right) explain_merge<Op>();
  }
}

/// The Operation of a map.
template <class Op>
class Map final : public Operation {
 public:
  using Finder = SeenBy<Op>;
  using Value = Nothing;
  static constexpr bool is_merged_in_order = false;
  static Finder finder(const Op& op) { return Finder(op); }

  /// `record_bytes`: of the input or of the output, whichever is larger.
  Map(const Op& op, const DeviceFacts& /*device*/, std::size_t record_bytes)
      : op_(op), partition_(partition_of_calls<Op>(record_bytes)) {}

  void begin_with(std::span<const PassInput> inputs) {
    if constexpr (HasPartitions<Op>) require_whole_partitions(inputs, partition_);
  }
  std::size_t partition() const noexcept override { return partition_; }
  bool runs_on(DeviceKind kind) const noexcept override { return is_for<Op>(kind); }
  Margin margin() const noexcept override { return margin_of(op_); }
  void begin(std::size_t /*lane*/, Stream& /*stream*/) override {}
  void process(std::size_t /*lane*/, Stream& stream, const StepRecords& in,
               const StepResults& out) override {
    const StepPart all{0, in.count, margin_of(op_)};
    call_with_records<Op>(in, out, all,
                          [&](auto... records) { op_.transform(stream, records...); });
  }
  void end(std::size_t /*lane*/, Stream& /*stream*/) override {}

  Found<Nothing> take_part(Cover cover) { return part_without_findings(op_, std::move(cover)); }

 private:
  const Op& op_;
  std::size_t partition_;
};

/// The Operation of a gathering map.
template <class Op>
class GatheringMap final : public Gathering<Op> {
 public:
  using Finder = Op;
  using Value = ResultOf<Op>;
  static constexpr bool is_merged_in_order = merge_of<Op>() == Merge::in_order;
  static const Op& finder(const Op& op) { return op; }

  using Gathering<Op>::Gathering;

  void process(std::size_t lane, Stream& stream, const StepRecords& in,
               const StepResults& out) override {
    this->gather(lane, stream, in, [&](const StepPart& part, typename Op::Partial& partial) {
      call_with_records<Op>(in, out, part, [&](auto... records) {
        this->op_.transform(stream, records..., partial);
      });
    });
  }
};

}  // namespace detail

/// Sends each chunk of a source through an operator, and writes the results at the same place of
/// the target, or of each of several. A .npy file of rows has two dimensions unless the target has
/// a shape. Its type must be the operator's Output or, for example for a struct, have its size; it
/// may have the other byte order. Files appear when all of them are on the disk. Throws Error: as
/// fold(), and `output` or `usage` if the target cannot be written, `interrupted` if the job was
/// stopped; then existing files are unchanged. With a Checkpoint, the results so far are kept for
/// the same job. Returns the number of records written.
///
///     const ooc::Source prices = ooc::open("prices.f32");
///     const auto [records, stats] = ooc::map(coordinator, Halve{}, prices, {"halved.npy"});
template <MapOperator Op, detail::PassSource From>
requires(!GatheringMapOperator<Op>) Result<std::uint64_t> map(Coordinator& coordinator,
                                                              const Op& op, const From& from,
                                                              const TargetsOf<Op>& targets,
                                                              const PassOptions& wanted = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  return detail::written_by<detail::Map<Op>>(coordinator, op, inputs, targets, wanted);
}

/// Like map() above, for an operator that gathers. Returns the total, or its result() of the total.
///
///     const auto [total, stats] = ooc::map(coordinator, HalveAndAdd{}, prices, target);
template <GatheringMapOperator Op, detail::PassSource From>
Result<detail::ResultOf<Op>> map(Coordinator& coordinator, const Op& op, const From& from,
                                 const TargetsOf<Op>& targets, const PassOptions& wanted = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  auto written =
      detail::write_files<detail::GatheringMap<Op>>(coordinator, op, inputs, targets, wanted);
  return {std::move(written.value), std::move(written.stats)};
}

/// Rejects invalid arguments: a compiler error says what is wrong with the operator or the data.
template <class Op, class From>
requires((!MapOperator<Op> && !GatheringMapOperator<Op>) || !detail::PassSource<From>)
    typename detail::AnyResult<Op>::type
    map(Coordinator& /*coordinator*/, const Op& /*op*/, const From& /*from*/,
        const typename detail::AnyTargets<Op>::type& /*targets*/,
        const PassOptions& /*wanted*/ = {}) {
  if constexpr (detail::PassSource<From>) {
    detail::explain_map<Op>();
  } else {
    detail::explain_source<From>();
  }
  throw Error(ErrorKind::internal, "this does not compile");
}

}  // namespace ooc
