#pragma once

#include <ooc/detail/operators/is_close.hpp>
#include <ooc/detail/parts/found.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/fold.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace ooc {

namespace detail {

OOC_API Error breaks_rule(std::string_view rule, std::string_view found, std::string_view hint);
OOC_API Error too_few_partitions(std::size_t partition);

/// Computes the result of each step in several ways, which must all agree.
template <class Op, class Same>
class CheckOperation final : public Operation {
 public:
  using Partial = typename Op::Partial;

  CheckOperation(const Op& op, const Same& same, std::size_t record_bytes)
      : op_(op), same_(same), partition_(partition_of_calls<Op>(record_bytes)) {
    require_known_functions<Op>();
  }

  /// Returns the number of records of a partition.
  std::size_t partition() const noexcept override { return partition_; }
  Margin margin() const noexcept override { return margin_of(op_); }
  bool runs_on(DeviceKind kind) const noexcept override { return is_for<Op>(kind); }
  void begin(std::size_t /*lane*/, Stream& /*stream*/) override {}
  void end(std::size_t /*lane*/, Stream& /*stream*/) override {}

  void process(std::size_t /*lane*/, Stream& stream, const StepRecords& in,
               const StepResults& /*out*/) override {
    const std::size_t unit = HasPartitions<Op> ? partition_ : std::bit_floor(in.count / 8 + 1);
    const std::size_t units = in.count / unit;
    if (units < 3) return;
    checked_ = true;
    const std::size_t first = units / 3 * unit, second = units * 2 / 3 * unit;
    const Step step{stream, in};
    const Range all{0, in.count}, left{0, first}, middle{first, second - first},
        right{second, in.count - second};
    require_neutral(step, all);
    require_associative(step, left, middle, right);
    require_division(step, all, left, middle, right);
    require_reset(step, all, left, middle);
    require_saved(step, all);
  }

  bool has_checked() const noexcept { return checked_; }

 private:
  struct Range {
    std::size_t offset, count;
  };
  struct Step {
    Stream& stream;
    const StepRecords& in;
  };
  static constexpr bool is_in_order = merge_of<Op>() == Merge::in_order;

  void consume(const Step& step, const Range& range, Partial& partial) const {
    call_with_inputs<typename Op::Input>(
        step.in, {range.offset, range.count, margin_of(op_)},
        [&](auto... inputs) { op_.consume(step.stream, inputs..., partial); });
  }
  void finish(const Step& step, Partial& partial) const {
    finish_partials(op_, step.stream, std::span(&partial, 1));
  }

  /// Returns a partial that has consumed ranges, one after another.
  Partial consumed(const Step& step, std::initializer_list<Range> ranges) const {
    Partial partial = make_partial(op_, step.stream);
    for (const Range& range : ranges) consume(step, range, partial);
    finish(step, partial);
    return partial;
  }
  Partial merged(Partial total, Partial part) const {
    merge_partials(op_, total, part);
    return total;
  }
  void require_same(Partial left, Partial right, std::string_view rule, std::string_view found,
                    std::string_view hint) const {
    if (same_(result_of(op_, std::move(left)), result_of(op_, std::move(right)))) return;
    throw breaks_rule(rule, found, hint);
  }

  void require_neutral(const Step& step, const Range& all) const {
    constexpr std::string_view hint =
        "a total begins as Partial{}: for a minimum, say, it needs a member that says whether it "
        "has seen anything, or a default of infinity";
    constexpr std::string_view rule = "Partial{} is neutral";
    require_same(merged(Partial{}, consumed(step, {all})), consumed(step, {all}), rule,
                 "a part changes when it is merged into Partial{}", hint);
    if constexpr (!is_in_order) {
      require_same(merged(consumed(step, {all}), Partial{}), consumed(step, {all}), rule,
                   "a total changes when Partial{} is merged into it", hint);
      require_same(merged(consumed(step, {all}), consumed(step, {})), consumed(step, {all}), rule,
                   "a total changes when a partial is merged into it that has consumed nothing",
                   hint);
    }
  }

  void require_associative(const Step& step, const Range& left, const Range& middle,
                           const Range& right) const {
    if constexpr (!is_in_order) {
      require_same(
          merged(merged(consumed(step, {left}), consumed(step, {middle})), consumed(step, {right})),
          merged(consumed(step, {left}), merged(consumed(step, {middle}), consumed(step, {right}))),
          "merge() is associative", "(a + b) + c is not a + (b + c)",
          "keep in the Partial what can be added, such as a sum and a count, and compute "
          "the mean in result(); or set merge_order = ooc::Merge::in_order");
    }
  }

  void require_division(const Step& step, const Range& all, const Range& left, const Range& middle,
                        const Range& right) const {
    const auto in_parts = [&] {
      return merged(merged(merged(Partial{}, consumed(step, {left})), consumed(step, {middle})),
                    consumed(step, {right}));
    };
    require_same(consumed(step, {all}), in_parts(),
                 "the result does not depend on how the data are divided",
                 "one partial of all records gives another result than three that are merged",
                 "chunks have any size; if partitions matter, set partition_records");
    require_same(consumed(step, {left, middle, right}), in_parts(),
                 "consume() adds to its Partial, and never assigns it",
                 "three calls with one Partial give another result than three Partials",
                 "write `sum += ...` where it says `sum = ...`");
    if constexpr (merge_of<Op>() == Merge::by_place) {
      Partial total{}, part = make_partial(op_, step.stream);
      for (const Range& range : {left, middle, right}) {
        consume(step, range, part);
        merge_partials(op_, total, part);
      }
      finish(step, part);
      merge_partials(op_, total, part);
      require_same(std::move(total), in_parts(),
                   "merge() of Merge::by_place removes from the part what it has merged",
                   "a part that is merged again is counted again", "");
    }
  }

  void require_reset(const Step& step, const Range& all, const Range& left,
                     const Range& middle) const {
    if constexpr (can_reset<Op>) {
      Partial total = consumed(step, {left}), used = consumed(step, {middle});
      merge_partials(op_, total, used);
      reset_partial(op_, step.stream, used);
      consume(step, all, used);
      finish(step, used);
      require_same(std::move(used), consumed(step, {all}), "reset() makes a partial neutral",
                   "a partial that was used before gives another result", "");
    }
  }

  void require_saved(const Step& step, const Range& all) const {
    if constexpr (Savable<Op>) {
      PartOf<Op> part(op_);
      part.add(0, 0, consumed(step, {all}));
      std::vector<std::byte> saved;
      part.save(saved);
      PartOf<Op> loaded(op_);
      ByteReader bytes(saved);
      loaded.load(bytes, cover_of_all(step.in));
      if (same_(loaded.result(), part.result())) return;
      throw breaks_rule("load() reads what save() has written",
                        "a partial that is saved and loaded gives another result", "");
    }
  }

  /// Returns the cover of a part that has a step in one node, or in a total.
  Cover cover_of_all(const StepRecords& in) const {
    if constexpr (merge_of<Op>() == Merge::by_partition) {
      return {.records = in.count, .partition = std::bit_ceil(in.count), .ranges = {{0, in.count}}};
    } else {
      return {in.first + in.count, partition_, {{in.first, in.count}}};
    }
  }

  const Op& op_;
  const Same& same_;
  std::size_t partition_;
  std::atomic<bool> checked_ = false;
};

}  // namespace detail

/// Checks an operator of your own with some of your data, for a test: that consume() adds to its
/// Partial and never assigns it, that merge() is associative and Partial{} neutral, that the result
/// does not depend on how the data are divided, and that reset(), save() and load() do what they
/// should, if it has them. Each step of the source goes through the operator about 15 times, so a
/// few million records suffice. Throws Error(verify) that names the broken rule; exceptions of the
/// operator; Error(usage) for fewer than 3 records, or 3 partitions if it has `partition_records`.
///
///     TEST(MySum, IsAnOperator) {
///       const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
///       ooc::Coordinator coordinator(ooc::make_device(ooc::DeviceKind::cpu));
///       ooc::check(coordinator, MySum{}, ooc::from_memory(values));
///     }
///
/// `same(left, right)` compares two results. By default, floating-point numbers may differ by a
/// thousandth of the larger one, since sums round; other values are compared by ==. A result that
/// suffers from cancellation needs a function of its own.
template <FoldOperator Op, detail::PassSource From, class Same = detail::IsClose>
void check(Coordinator& coordinator, const Op& op, const From& from, const Same& same = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  detail::CheckOperation<Op, Same> operation(op, same, detail::record_bytes_of(inputs));
  detail::Reservation pass = detail::begin_pass(coordinator);
  detail::run_pass(coordinator, pass, inputs, operation);
  if (!operation.has_checked()) {
    constexpr bool has_partitions = detail::HasPartitions<Op>;
    throw detail::too_few_partitions(has_partitions ? operation.partition() : 0);
  }
}

/// Checks on the best device of this machine, or on the CPU if the operator does not run on GPUs.
///
///     ooc::check(MySum{}, ooc::from_memory(values));
template <FoldOperator Op, detail::PassSource From, class Same = detail::IsClose>
void check(const Op& op, const From& from, const Same& same = {}) {
  Coordinator coordinator(detail::is_for<Op>(DeviceKind::cuda) ? best_device()
                                                               : make_device(DeviceKind::cpu));
  check(coordinator, op, from, same);
}

/// Rejects invalid arguments: a compiler error says what is wrong with the operator or the data.
template <class Op, class From>
requires(!FoldOperator<Op> || !detail::PassSource<From>) void check(Coordinator& /*coordinator*/,
                                                                    const Op& /*op*/,
                                                                    const From& /*from*/) {
  if constexpr (detail::PassSource<From>) {
    detail::explain_fold<Op>();
  } else {
    detail::explain_source<From>();
  }
}
/// Rejects invalid arguments of a call without a coordinator.
template <class Op, class From>
requires(!FoldOperator<Op> && !std::same_as<Op, Coordinator>) void check(const Op& /*op*/,
                                                                         const From& /*from*/) {
  detail::explain_fold<Op>();
}

}  // namespace ooc
