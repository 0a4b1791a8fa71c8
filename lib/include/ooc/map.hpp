#pragma once

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
template <class Op>
concept MapOperator = detail::HasRecords<Op> && detail::transforms<const Op>;

/// A map that is a fold too: it has a Partial and merge(), and all that a FoldOperator may have.
/// `void check(const Partial& total) const`, if it has that, may throw: the file is then not
/// written.
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
  /// `record_bytes`: of the input or of the output, whichever is larger.
  Map(const Op& op, std::size_t record_bytes)
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

 private:
  const Op& op_;
  std::size_t partition_;
};

/// The Operation that a gathering map is.
template <class Op>
class GatheringMap final : public Operation {
 public:
  GatheringMap(const Op& op, Coordinator& coordinator, std::size_t record_bytes)
      : op_(op), partials_(op, coordinator.device().facts(), record_bytes) {}

  /// Throws Error(usage) for sections that are not whole partitions.
  void begin_with(std::span<const PassInput> inputs) {
    require_whole_partitions(inputs, partition());
    partials_.begin_at(records_before(inputs.front()));
  }

  std::size_t partition() const noexcept override { return partials_.partition(); }
  Margin margin() const noexcept override { return margin_of(op_); }
  bool in_order() const noexcept override { return merge_of<Op>() == Merge::in_order; }
  void prepare(std::size_t lanes, std::size_t /*steps*/) override { partials_.prepare(lanes); }
  void begin(std::size_t lane, Stream& stream) override { partials_.begin(lane, stream); }
  void process(std::size_t lane, Stream& stream, const StepRecords& in,
               const StepResults& out) override {
    partials_.consume(lane, stream, in.first, in.count,
                      [&](std::size_t offset, std::size_t count, typename Op::Partial& partial) {
                        const StepPart part{offset, count, margin_of(op_)};
                        call_with_records<Op>(in, out, part, [&](auto... records) {
                          op_.transform(stream, records..., partial);
                        });
                      });
  }
  void end(std::size_t lane, Stream& stream) override { partials_.end(lane, stream); }
  void abort() noexcept override { partials_.abort(); }

  typename Op::Partial take() { return partials_.take(); }

 private:
  const Op& op_;
  Partials<Op> partials_;
};

}  // namespace detail

/// Sends each chunk of a source through an operator and writes what it makes, at the same place of
/// the target, or of each of several. A .npy file of rows has two dimensions unless the target has
/// a shape. Its type must be the operator's Output or, where that is a struct, say, of its size; it
/// may have the other byte order. Files appear when all of them are on the disk. Throws Error: as a
/// fold, and `output` or `usage` if the target cannot be written (see TargetFile), `interrupted` if
/// the pass was stopped; then nothing was written, and what was there before still is.
///
///     const ooc::Source prices = ooc::open("prices.f32");
///     ooc::map(coordinator, Halve{}, prices, {"halved.npy", ooc::type_of<float>()});
template <MapOperator Op, detail::PassSource From>
requires(!GatheringMapOperator<Op>) Stats
    map(Coordinator& coordinator, const Op& op, const From& from, const TargetsOf<Op>& targets,
        const PassOptions& wanted = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  const auto made = detail::made_by(op, inputs);
  detail::OutputFiles files(inputs, detail::all_of(targets), made);
  Coordinator::Reservation pass = coordinator.begin_pass();
  detail::Map<Op> operation(op, detail::widest_record(inputs, made));
  Stats stats = coordinator.run(pass, inputs, operation, wanted, files.outputs());
  files.commit(stats);
  return stats;
}

/// The same for an operator that gathers. Returns its total.
///
///     const auto [total, stats] = ooc::map(coordinator, HalveAndAdd{}, prices, target);
template <GatheringMapOperator Op, detail::PassSource From>
Result<typename Op::Partial> map(Coordinator& coordinator, const Op& op, const From& from,
                                 const TargetsOf<Op>& targets, const PassOptions& wanted = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  const auto made = detail::made_by(op, inputs);
  detail::OutputFiles files(inputs, detail::all_of(targets), made);
  Coordinator::Reservation pass = coordinator.begin_pass();
  detail::GatheringMap<Op> operation(op, coordinator, detail::widest_record(inputs, made));
  operation.begin_with(inputs);
  Stats stats = coordinator.run(pass, inputs, operation, wanted, files.outputs());
  auto total = operation.take();
  if constexpr (requires { op.check(std::as_const(total)); }) op.check(std::as_const(total));
  files.commit(stats);
  return {std::move(total), std::move(stats)};
}

/// Says what is missing where an operator's transform() is not const.
template <detail::MapLacksConst Op, detail::PassSource From, class... Others>
auto map(Coordinator&, const Op&, const From&, const TargetsOf<Op>&, const Others&...) {
  static_assert(MapOperator<Op>,
                "transform() of an operator must be const: write `void transform(...) const`");
  return Stats{};
}

}  // namespace ooc
