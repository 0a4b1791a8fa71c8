#pragma once

#include <ooc/detail/operators/output_job.hpp>
#include <ooc/detail/operators/outputs.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace ooc {

namespace detail {

struct CallSelect {
  template <class Op, class... Args>
  auto operator()(Op& op, Args&&... args) const -> decltype(op.select(std::forward<Args>(args)...));
};

template <class Op, class Inputs, class Outputs>
inline constexpr Fit select_fit_of = Fit::none;
template <class Op, class... Inputs, class... Outputs>
inline constexpr Fit select_fit_of<Op, std::tuple<Inputs...>, std::tuple<Outputs...>> = fit_of<
    CallSelect, Op, Stream&, DeviceInput<Inputs>&..., DeviceOutput<Outputs>&..., std::uint64_t*>();

/// How select() fits, with an argument for each type of the Input and of the Output.
template <class Op>
inline constexpr Fit select_fit = select_fit_of<Op, typename RecordsOf<typename Op::Input>::Tuple,
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
/// select() enqueues work on the stream that writes the records it keeps to the beginning of
/// `out`, in their order, and their number to `*kept`. `out` has room for as many records as
/// `in` has; `*kept` is device memory that is not initialised. Input, Output and optional
/// members are as in a MapOperator. With an Output of a std::tuple, there is room for each type,
/// and `kept` points to one number for each: in this way a filter divides its records among
/// several files.
template <class Op>
concept FilterOperator = detail::Reads<Op> && detail::Makes<Op> && detail::select_fit<Op>
== detail::Fit::right;

/// The numbers of records that a filter has seen and kept.
struct Selection {
  std::uint64_t seen = 0;  ///< records of the source
  std::uint64_t kept = 0;  ///< records of the output
};

namespace detail {

/// Says in one sentence why an operator is no FilterOperator.
template <class Op>
constexpr void explain_filter() {
  if constexpr (!Reads<Op>) {
    explain_input<Op>();
  } else if constexpr (!Makes<Op>) {
    explain_output<Op>();
  } else {
    constexpr Fit fit = select_fit<Op>;
    static_assert(fit != Fit::not_void,
                  "select() returns something, which is lost: it leaves the number that it keeps "
                  "in `*kept`, on the device");
    static_assert(fit != Fit::not_const,
                  "select() of an operator must be const: write `void select(...) const`");
    static_assert(fit != Fit::none,
                  "an operator of `Input = T` and `Output = U` needs `void select(ooc::Stream&, "
                  "ooc::DeviceChunk<const T> in, ooc::DeviceChunk<U> out, std::uint64_t* kept) "
                  "const`, with ooc::DeviceRows for rows");
  }
}

/// The Operation of a filter.
template <FilterOperator Op>
class Filter final : public Operation {
 public:
  using Finder = SeenBy<Op>;
  using Value = Nothing;
  static constexpr bool is_merged_in_order = false;
  static Finder finder(const Op& op) { return Finder(op); }

  /// `record_bytes`: of the inputs or of the outputs, whichever is larger.
  Filter(const Op& op, const DeviceFacts& /*device*/, std::size_t record_bytes)
      : op_(op), partition_(partition_of_calls<Op>(record_bytes)) {}

  void begin_with(std::span<const PassInput> inputs) {
    if constexpr (HasPartitions<Op>) require_whole_partitions(inputs, partition_);
  }
  std::size_t partition() const noexcept override { return partition_; }
  bool runs_on(DeviceKind kind) const noexcept override { return is_for<Op>(kind); }
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

  Found<Nothing> take_part(Cover cover) { return part_without_findings(op_, std::move(cover)); }

 private:
  const Op& op_;
  std::size_t partition_;
};

template <std::size_t count>
auto selections_of(std::uint64_t seen, const std::vector<std::uint64_t>& kept) {
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
/// of one dimension, or of rows, whose number is known at the end. `Target::shape` must be empty.
/// With several outputs, returns a Selection for each. The source is read once, from beginning to
/// end. Disk space is allocated while the output grows; if it runs out, nothing is left behind
/// except the files of a Checkpoint. The file appears when all of it is on the disk. Throws Error:
/// as map(), and `usage` if the operator says that it kept more records than it was given.
///
///     const ooc::Target high{"high.npy"};
///     const auto [found, stats] = ooc::filter(coordinator, KeepAbove{0.5f}, prices, high);
///     std::cout << found.kept << " of " << found.seen << '\n';
template <FilterOperator Op, detail::PassSource From>
auto filter(Coordinator& coordinator, const Op& op, const From& from, const TargetsOf<Op>& targets,
            const PassOptions& wanted = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  auto [nothing, stats, kept] = detail::write_files<detail::Filter<Op>>(
      coordinator, op, inputs, targets, wanted, detail::Purpose::append);
  auto found = detail::selections_of<detail::outputs_of<Op>>(stats.outcome.records, kept);
  return Result<decltype(found)>{found, std::move(stats)};
}

/// Rejects invalid arguments: a compiler error says what is wrong with the operator or the data.
template <class Op, class From>
requires(!FilterOperator<Op> || !detail::PassSource<From>) Result<Selection> filter(
    Coordinator& /*coordinator*/, const Op& /*op*/, const From& /*from*/,
    const typename detail::AnyTargets<Op>::type& /*targets*/, const PassOptions& /*wanted*/ = {}) {
  if constexpr (detail::PassSource<From>) {
    detail::explain_filter<Op>();
  } else {
    detail::explain_source<From>();
  }
  throw Error(ErrorKind::internal, "this does not compile");
}

}  // namespace ooc
