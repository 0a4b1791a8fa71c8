#pragma once

#include <ooc/detail/operators/outputs.hpp>
#include <ooc/fold.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>

namespace ooc {

namespace detail {

template <class Op, class Outputs>
inline constexpr bool produces_all = false;
template <class Op, class... Outputs>
inline constexpr bool produces_all<Op, std::tuple<Outputs...>> =
    requires(Op& op, Stream& stream, DeviceOutput<Outputs>... out) {
  op.produce(stream, out...);
};

template <class Op>
inline constexpr bool produces = produces_all<Op, typename RecordsOf<typename Op::Output>::Tuple>;

}  // namespace detail

/// Makes the records of a file from their places. The operator is const.
///
///     struct Ramp {  // 0, 1, 2, ...
///       using Output = double;
///       void produce(ooc::Stream&, ooc::DeviceChunk<double> out) const;
///     };
///
/// `out.first` is the place of the first record in the file; all of `out` is to be set. Output is
/// as that of a MapOperator; for rows, `std::size_t output_columns(std::size_t) const` says how
/// long they are; its argument is 1.
template <class Op>
concept WriteOperator = detail::HasOutput<Op> && detail::produces<const Op>;

namespace detail {

/// An operator but for a missing const.
template <class Op>
concept WriteLacksConst = HasOutput<Op> && !WriteOperator<Op> && produces<Op>;

/// The Operation that a write is.
template <WriteOperator Op>
class Write final : public Operation {
 public:
  Write(const Op& op, std::uint64_t records, std::size_t record_bytes)
      : op_(op), records_(records), partition_(partition_of_streams(record_bytes)) {}

  std::size_t partition() const noexcept override { return partition_; }
  std::uint64_t records() const noexcept override { return records_; }
  void begin(std::size_t /*lane*/, Stream& /*stream*/) override {}
  void process(std::size_t /*lane*/, Stream& stream, const StepRecords& in,
               const StepResults& out) override {
    call_with_outputs<Op>(in, out, {0, in.count},
                          [&](auto... room) { op_.produce(stream, room...); });
  }
  void end(std::size_t /*lane*/, Stream& /*stream*/) override {}

 private:
  const Op& op_;
  std::uint64_t records_;
  std::size_t partition_;
};

}  // namespace detail

/// Writes `count` records that an operator makes to a target, or to each of several. Throws Error
/// as map().
///
///     ooc::write(coordinator, Ramp{}, {"ramp.npy", ooc::type_of<double>()}, 1'000'000);
template <WriteOperator Op>
Stats write(Coordinator& coordinator, const Op& op, const TargetsOf<Op>& targets,
            std::uint64_t count, const PassOptions& wanted = {}) {
  require_none(wanted.checkpoint);
  const auto made = detail::made_with(op, std::nullopt);
  detail::OutputFiles files(count, detail::all_of(targets), made);
  Coordinator::Reservation pass = coordinator.begin_pass();
  detail::Write<Op> operation(op, count, detail::widest_record(std::array<PassInput, 0>{}, made));
  Stats stats =
      coordinator.run(pass, {}, operation, detail::without_keep_partial(wanted), files.outputs());
  files.commit(stats);
  return stats;
}

/// Says what is missing where an operator's produce() is not const.
template <detail::WriteLacksConst Op, class... Others>
Stats write(Coordinator&, const Op&, const TargetsOf<Op>&, const Others&...) {
  static_assert(WriteOperator<Op>,
                "produce() of an operator must be const: write `void produce(...) const`");
  return {};
}

}  // namespace ooc
