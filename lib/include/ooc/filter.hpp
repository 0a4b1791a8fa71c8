#pragma once

#include <ooc/detail/operators/output_job.hpp>
#include <ooc/detail/operators/outputs.hpp>
#include <ooc/fold.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace ooc {

namespace detail {

template <class Op, class Inputs, class Outputs>
inline constexpr bool selects_all = false;
template <class Op, class... Inputs, class... Outputs>
inline constexpr bool selects_all<Op, std::tuple<Inputs...>, std::tuple<Outputs...>> =
    requires(Op& op, Stream& stream, DeviceInput<Inputs>... in, DeviceOutput<Outputs>... out,
             std::uint64_t* kept) {
  op.select(stream, in..., out..., kept);
};

template <class Op>
inline constexpr bool selects = selects_all<Op, typename RecordsOf<typename Op::Input>::Tuple,
                                            typename RecordsOf<typename Op::Output>::Tuple>;

}  // namespace detail

/// Keeps some records of a dataset. The operator is const.
///
///     struct KeepAbove {
///       using Input = float;
///       using Output = float;
///       float threshold;
///       void select(ooc::Stream&, ooc::DeviceChunk<const float> in, ooc::DeviceSpan<float> out,
///                   std::uint64_t* kept) const;
///     };
///
/// select() puts the records that it keeps at the beginning of `out`, which has room for as many as
/// `in` has, in their order, and their number in `*kept`, which is memory of the device and has no
/// useful value before; both by work that it enqueues on the stream. Input and Output are as those
/// of a MapOperator; `before()`, `after()` and `partial_name` too. With an Output of a std::tuple
/// there is room for each, and `kept` points to a number for each: so a filter divides its records
/// among several files.
template <class Op>
concept FilterOperator = detail::HasRecords<Op> && detail::selects<const Op>;

/// The numbers of records that a filter has seen and kept.
struct Selection {
  std::uint64_t seen = 0;  ///< records of the source
  std::uint64_t kept = 0;  ///< records of the output
};

namespace detail {

/// An operator but for a missing const.
template <class Op>
concept FilterLacksConst = HasRecords<Op> && !FilterOperator<Op> && selects<Op>;

/// The Operation that a filter is.
template <FilterOperator Op>
class Filter final : public Operation {
 public:
  using Finder = SeenBy<Op>;
  using Value = Nothing;
  static constexpr bool is_merged_in_order = false;
  static Finder finder(const Op& op) { return Finder(op); }

  /// `record_bytes`: of the inputs or of the outputs, whichever is larger.
  Filter(const Op& op, Coordinator& /*coordinator*/, std::size_t record_bytes)
      : op_(op), partition_(partition_of_streams(record_bytes)) {}

  std::size_t partition() const noexcept override { return partition_; }
  Margin margin() const noexcept override { return margin_of(op_); }
  bool selects() const noexcept override { return true; }
  void begin(std::size_t /*lane*/, Stream& /*stream*/) override {}
  void process(std::size_t /*lane*/, Stream& stream, const StepRecords& in,
               const StepResults& out) override {
    const StepPart all{0, in.count, margin_of(op_)};
    call_with_records<Op>(in, out, all,
                          [&](auto... records) { op_.select(stream, records..., out.made); });
  }
  void end(std::size_t /*lane*/, Stream& /*stream*/) override {}

  Part<Nothing> take_part(Cover cover) { return part_without_findings(op_, std::move(cover)); }

 private:
  const Op& op_;
  std::size_t partition_;
};

template <std::size_t count>
auto selections_of(std::uint64_t seen, const std::array<std::uint64_t, count>& kept) {
  if constexpr (count == 1) {
    return Selection{seen, kept.front()};
  } else {
    std::array<Selection, count> found;
    for (std::size_t i = 0; i < count; ++i) found[i] = {seen, kept[i]};
    return found;
  }
}

}  // namespace detail

/// Writes the records of a source that an operator keeps, in their order, to a target: a .npy file
/// of one dimension, or of rows, whose number shows at the end. `Target::shape` is to be empty.
/// With several outputs, returns a Selection for each. The source is read once, from beginning to
/// end. Space on the disk is taken while the output grows; if there is no more, nothing is left
/// behind but what a Checkpoint keeps. The file appears when all of it is on the disk. Throws
/// Error: as map(), and `usage` if the operator says that it kept more records than it was given.
///
///     const ooc::Target high{"high.npy", ooc::type_of<float>()};
///     const auto [found, stats] = ooc::filter(coordinator, KeepAbove{0.5f}, prices, high);
///     std::cout << found.kept << " of " << found.seen << '\n';
template <FilterOperator Op, detail::PassSource From>
auto filter(Coordinator& coordinator, const Op& op, const From& from, const TargetsOf<Op>& targets,
            const PassOptions& wanted = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  auto [nothing, stats, kept] = detail::write_files<detail::Filter<Op>>(
      coordinator, op, inputs, targets, wanted, Purpose::append);
  const std::uint64_t seen = stats.outcome.bytes / detail::stored_bytes_of(inputs);
  auto found = detail::selections_of(seen, kept);
  return Result<decltype(found)>{found, std::move(stats)};
}

/// Says what is missing where an operator's select() is not const.
template <detail::FilterLacksConst Op, detail::PassSource From, class... Others>
auto filter(Coordinator&, const Op&, const From&, const TargetsOf<Op>&, const Others&...) {
  static_assert(FilterOperator<Op>,
                "select() of an operator must be const: write `void select(...) const`");
  return Result<Selection>{};
}

}  // namespace ooc
