#pragma once

#include <ooc/detail/operators/fold_operation.hpp>
#include <ooc/detail/operators/output_job.hpp>
#include <ooc/detail/operators/outputs.hpp>
#include <ooc/fold.hpp>

#include <cstddef>
#include <tuple>
#include <utility>

namespace ooc {

namespace detail {

/// An operator with tuples of inputs and outputs; one that gathers has Partials.
template <class Op, class Inputs, class Outputs, class... Partials>
inline constexpr bool transforms_all = false;
template <class Op, class... Inputs, class... Outputs, class... Partials>
inline constexpr bool
    transforms_all<Op, std::tuple<Inputs...>, std::tuple<Outputs...>, Partials...> =
        requires(Op& op, Stream& stream, DeviceInput<Inputs>... in, DeviceOutput<Outputs>... out,
                 Partials&... partials) {
  op.transform(stream, in..., out..., partials...);
};

template <class Op, class... Partials>
inline constexpr bool transforms =
    transforms_all<Op, typename RecordsOf<typename Op::Input>::Tuple,
                   typename RecordsOf<typename Op::Output>::Tuple, Partials...>;

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
/// `out` has as many records as `in`, and all of it is to be set. Input and Output may be rows (see
/// Row). An Input of a std::tuple is read from several sources (see zip()), one argument for each;
/// an Output of a std::tuple is written to as many targets, one argument for each. The rows of the
/// output are as long as those of the inputs, or as `std::size_t output_columns(std::size_t
/// columns) const` says; with several outputs it returns a std::array of a number for each. A map
/// may have neighbours of its input (`before()`, `after()`), as a FoldOperator may. An operator
/// that also gathers a value on the way is a GatheringMapOperator.
///
/// With `static constexpr std::string_view partial_name`, a name that changes when what it makes
/// does, a map can have a Checkpoint. `std::string question() const` then returns the settings that
/// decide what it makes: a job goes on only with the same ones.
template <class Op>
concept MapOperator = detail::HasRecords<Op> && detail::transforms<const Op>;

/// A map that is a fold too: it has a Partial and merge(), and all that a FoldOperator may have. As
/// a SavableFold, it can have a Checkpoint. `void check(const Partial& total) const`, if it has
/// that, may throw: the file is then not written.
template <class Op>
concept GatheringMapOperator = detail::HasRecords<Op> && requires {
  typename Op::Partial;
} && detail::transforms<const Op, typename Op::Partial> && detail::Merges<const Op>;

namespace detail {

/// An operator but for a missing const.
template <class Op>
concept MapLacksConst =
    HasRecords<Op> && !MapOperator<Op> && !GatheringMapOperator<Op> && transforms<Op>;

/// The Operation that a map is.
template <class Op>
class Map final : public Operation {
 public:
  using Finder = SeenBy<Op>;
  using Value = Nothing;
  static constexpr bool is_merged_in_order = false;
  static Finder finder(const Op& op) { return Finder(op); }

  /// `record_bytes`: of the input or of the output, whichever is larger.
  Map(const Op& op, Coordinator& /*coordinator*/, std::size_t record_bytes)
      : op_(op), partition_(partition_of_streams(record_bytes)) {}

  std::size_t partition() const noexcept override { return partition_; }
  Margin margin() const noexcept override { return margin_of(op_); }
  void begin(std::size_t /*lane*/, Stream& /*stream*/) override {}
  void process(std::size_t /*lane*/, Stream& stream, const StepRecords& in,
               const StepResults& out) override {
    const StepPart all{0, in.count, margin_of(op_)};
    call_with_records<Op>(in, out, all,
                          [&](auto... records) { op_.transform(stream, records...); });
  }
  void end(std::size_t /*lane*/, Stream& /*stream*/) override {}

  Part<Nothing> take_part(Cover cover) { return part_without_findings(op_, std::move(cover)); }

 private:
  const Op& op_;
  std::size_t partition_;
};

/// The Operation that a gathering map is.
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

/// Sends each chunk of a source through an operator and writes what it makes, at the same place of
/// the target, or of each of several. A .npy file of rows has two dimensions unless the target has
/// a shape. Its type must be the operator's Output or, where that is a struct, say, of its size; it
/// may have the other byte order. Files appear when all of them are on the disk. Throws Error: as a
/// fold, and `output` or `usage` if the target cannot be written (see TargetFile), `interrupted` if
/// the job was stopped; then nothing was written, and what was there before still is. With a
/// Checkpoint, what was made stays for the same job.
///
///     const ooc::Source prices = ooc::open("prices.f32");
///     ooc::map(coordinator, Halve{}, prices, {"halved.npy", ooc::type_of<float>()});
template <MapOperator Op, detail::PassSource From>
requires(!GatheringMapOperator<Op>) Stats
    map(Coordinator& coordinator, const Op& op, const From& from, const TargetsOf<Op>& targets,
        const PassOptions& wanted = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  return detail::write_files<detail::Map<Op>>(coordinator, op, inputs, targets, wanted).stats;
}

/// The same for an operator that gathers. Returns its total, or its result() of it.
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

/// Says what is missing where an operator's transform() is not const.
template <detail::MapLacksConst Op, detail::PassSource From, class... Others>
auto map(Coordinator&, const Op&, const From&, const TargetsOf<Op>&, const Others&...) {
  static_assert(MapOperator<Op>,
                "transform() of an operator must be const: write `void transform(...) const`");
  return Stats{};
}

}  // namespace ooc
