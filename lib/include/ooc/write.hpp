#pragma once

#include <ooc/detail/operators/outputs.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

namespace ooc {

namespace detail {

struct CallProduce {
  template <class Op, class... Args>
  auto operator()(Op& op, Args&&... args) const
      -> decltype(op.produce(std::forward<Args>(args)...));
};

template <class Op, class Outputs>
inline constexpr Fit produce_fit_of = Fit::none;
template <class Op, class... Outputs>
inline constexpr Fit produce_fit_of<Op, std::tuple<Outputs...>> =
    fit_of<CallProduce, Op, Stream&, DeviceOutput<Outputs>&...>();

/// How produce() fits, with an argument for each type of the Output.
template <class Op>
inline constexpr Fit produce_fit =
    produce_fit_of<Op, typename RecordsOf<typename Op::Output>::Tuple>;

}  // namespace detail

/// Makes the records of a file from their indices. The operator is const.
///
///     struct Ramp {  // 0, 1, 2, ...
///       using Output = double;
///       void produce(ooc::Stream&, ooc::DeviceChunk<double> out) const;
///     };
///
/// `out.first` is the index of the first record in the file; all of `out` must be set. Output is as
/// in a MapOperator; for rows, `std::size_t output_columns(std::size_t) const` returns their
/// length; its argument is 1.
template <class Op>
concept WriteOperator = detail::Makes<Op> && detail::produce_fit<Op>
== detail::Fit::right;

namespace detail {

/// Says why an operator is no WriteOperator, in one sentence.
template <class Op>
constexpr void explain_write() {
  if constexpr (!Makes<Op>) {
    explain_output<Op>();
  } else {
    constexpr Fit fit = produce_fit<Op>;
    static_assert(fit != Fit::not_void,
                  "produce() returns something, which is lost: it sets all of `out`");
    static_assert(fit != Fit::not_const,
                  "produce() of an operator must be const: write `void produce(...) const`");
    static_assert(fit != Fit::none,
                  "an operator of `Output = U` needs `void produce(ooc::Stream&, "
                  "ooc::DeviceChunk<U> out) const`, with ooc::DeviceRows for rows");
  }
}

/// The Operation of a write.
template <WriteOperator Op>
class Write final : public Operation {
 public:
  Write(const Op& op, std::uint64_t records, std::size_t record_bytes)
      : op_(op), records_(records), partition_(partition_of_calls<Op>(record_bytes)) {}

  std::size_t partition() const noexcept override { return partition_; }
  bool runs_on(DeviceKind kind) const noexcept override { return is_for<Op>(kind); }
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

/// Writes `count` records that an operator makes to a target, or to each of several, and returns
/// their number. Throws Error as map().
///
///     ooc::write(coordinator, Ramp{}, {"ramp.npy"}, 1'000'000);
template <WriteOperator Op>
Result<std::uint64_t> write(Coordinator& coordinator, const Op& op, const TargetsOf<Op>& targets,
                            std::uint64_t count, const PassOptions& wanted = {}) {
  detail::require_none(wanted.checkpoint);
  const auto made = detail::made_with(op, std::nullopt);
  detail::OutputFiles files(count, detail::known_targets(detail::all_of(targets), made), made);
  detail::Reservation pass = detail::begin_pass(coordinator);
  detail::Write<Op> operation(op, count,
                              detail::widest_record(std::array<detail::PassInput, 0>{}, made));
  Stats stats = detail::run_pass(coordinator, pass, {}, operation,
                                 detail::without_keep_partial(wanted), files.outputs());
  files.commit(stats);
  return {count, std::move(stats)};
}

/// Says what is wrong with an operator if this does not compile.
template <class Op>
requires(!WriteOperator<Op>) Result<std::uint64_t> write(
    Coordinator& /*coordinator*/, const Op& /*op*/,
    const typename detail::AnyTargets<Op>::type& /*targets*/, std::uint64_t /*count*/,
    const PassOptions& /*wanted*/ = {}) {
  detail::explain_write<Op>();
  throw Error(ErrorKind::internal, "this does not compile");
}

}  // namespace ooc
