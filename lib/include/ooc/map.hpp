#pragma once

#include <ooc/fold.hpp>
#include <ooc/io/target.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ooc {

namespace detail {

/// An operator whose Input is a tuple; one that gathers has Partials.
template <class Op, class Tuple, class... Partials>
inline constexpr bool transforms = false;
template <class Op, class... Inputs, class... Partials>
inline constexpr bool transforms<Op, std::tuple<Inputs...>, Partials...> =
    requires(Op& op, Stream& stream, DeviceInput<Inputs>... in,
             DeviceOutput<typename Op::Output> out, Partials&... partials) {
  op.transform(stream, in..., out, partials...);
};

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
/// Row); an Input of a std::tuple is read from several sources (see zip()). The rows of the output
/// are as long as those of the inputs, or as `std::size_t output_columns(std::size_t columns)
/// const` says. A map may have neighbours of its input (`before()`, `after()`), as a FoldOperator
/// may. An operator that also gathers a value on the way is a GatheringMapOperator.
template <class Op>
concept MapOperator = requires(const Op op, Stream& stream, DeviceInput<typename Op::Input> in,
                               DeviceOutput<typename Op::Output> out) {
  op.transform(stream, in, out);
}
|| detail::transforms<const Op, typename Op::Input>;

/// A map that is a fold too: it has a Partial and merge(), and all that a FoldOperator may have.
/// `void check(const Partial& total) const`, if it has that, may throw: the file is then not
/// written.
template <class Op>
concept GatheringMapOperator = requires(const Op op, Stream& stream, typename Op::Partial& partial,
                                        DeviceInput<typename Op::Input> in,
                                        DeviceOutput<typename Op::Output> out) {
  op.transform(stream, in, out, partial);
  op.merge(partial, partial);
}
|| (detail::transforms<const Op, typename Op::Input, typename Op::Partial> &&
    requires(const Op op, typename Op::Partial& partial) { op.merge(partial, partial); });

namespace detail {

/// An operator but for a missing const.
template <class Op>
concept MapLacksConst = !MapOperator<Op> && !GatheringMapOperator<Op> &&
                        transforms<Op, typename InputsOf<typename Op::Input>::Tuple>;

/// The records that an operator makes of those of an input.
struct MadeRecords {
  std::size_t element_bytes;
  std::optional<ElementType> element;  // if it is one and not a struct
  std::optional<std::size_t> columns;  // of rows

  std::size_t bytes() const { return element_bytes * columns.value_or(1); }
};

Error rows_differ(std::size_t columns, std::size_t others);
Error no_columns();

template <class Tuple>
inline constexpr bool has_rows = false;
template <class... Inputs>
inline constexpr bool has_rows<std::tuple<Inputs...>> = (is_row<Inputs> || ...);

/// Returns the number of elements of the rows among the inputs of an operator; nothing if there are
/// none. Throws Error(usage) if they differ.
template <class Input, std::size_t count>
std::optional<std::size_t> columns_of(const std::array<PassInput, count>& inputs) {
  using Tuple = typename InputsOf<Input>::Tuple;
  std::optional<std::size_t> columns;
  const auto add = [&]<class One>(std::type_identity<One>, const RecordShape& record) {
    if constexpr (is_row<One>) {
      const std::size_t found = record.bytes / sizeof(typename RecordView<One>::Element);
      if (columns.value_or(found) != found) throw rows_differ(*columns, found);
      columns = found;
    }
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (add(std::type_identity<std::tuple_element_t<i, Tuple>>{}, inputs[i].record), ...);
  }
  (std::make_index_sequence<count>{});
  return columns;
}

template <class Op, std::size_t count>
MadeRecords made_by(const Op& op, const std::array<PassInput, count>& inputs) {
  using Output = typename Op::Output;
  using Element = typename RecordView<Output>::Element;
  MadeRecords made{sizeof(Element), {}, {}};
  if constexpr (IsElement<Element>) made.element = element_type_of<Element>();
  if constexpr (is_row<Output>) {
    constexpr bool says = requires {
      op.output_columns(std::size_t{});
    };
    static_assert(
        says || !requires(Op & any) { any.output_columns(std::size_t{}); },
        "output_columns() of an operator must be const");
    static_assert(says || has_rows<typename InputsOf<typename Op::Input>::Tuple>,
                  "an Output of rows without an Input of rows needs `std::size_t "
                  "output_columns(std::size_t) const`");
    made.columns = columns_of<typename Op::Input>(inputs).value_or(1);
    if constexpr (says) made.columns = op.output_columns(*made.columns);
    if (*made.columns == 0) throw no_columns();
  }
  return made;
}

/// Room for what is made of `count` records of a step, from `offset` on.
template <class Output>
DeviceOutput<Output> output_in(const StepRecords& step, DeviceSpan<std::byte> out,
                               std::size_t offset, std::size_t count) {
  using View = RecordView<Output>;
  using Element = typename View::Element;
  const std::size_t columns = out.size / step.count / sizeof(Element);
  return View::output(reinterpret_cast<Element*>(out.data) + offset * columns, step.first + offset,
                      count, columns);
}

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
               DeviceSpan<std::byte> out) override {
    const auto room = output_in<typename Op::Output>(in, out, 0, in.count);
    call_with_inputs<typename Op::Input>(in, {0, in.count, margin_of(op_)}, [&](auto... inputs) {
      op_.transform(stream, inputs..., room);
    });
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
      : op_(op), partials_(op, coordinator.streams(), coordinator.device().facts(), record_bytes) {}

  std::size_t partition() const noexcept override { return partials_.partition(); }
  Margin margin() const noexcept override { return margin_of(op_); }
  bool in_order() const noexcept override { return merge_of<Op>() == Merge::in_order; }
  void begin(std::size_t lane, Stream& stream) override { partials_.begin(lane, stream); }
  void process(std::size_t lane, Stream& stream, const StepRecords& in,
               DeviceSpan<std::byte> out) override {
    partials_.consume(lane, stream, in.first, in.count,
                      [&](std::size_t offset, std::size_t count, typename Op::Partial& partial) {
                        const auto room = output_in<typename Op::Output>(in, out, offset, count);
                        call_with_inputs<typename Op::Input>(
                            in, {offset, count, margin_of(op_)}, [&](auto... inputs) {
                              op_.transform(stream, inputs..., room, partial);
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

/// A file that is being written by a pass.
class MapOutput {
 public:
  /// Throws Error(usage) if the target does not hold elements of that size or, if the operator's
  /// Output is an element type and not a struct, of that type.
  MapOutput(std::span<const PassInput> inputs, const Target& target, const MadeRecords& made);

  Stats run(Coordinator& coordinator, const Coordinator::Reservation& pass, Operation& operation,
            const PassOptions& wanted);
  void commit(Stats& stats);

 private:
  std::span<const PassInput> inputs_;
  TargetFile file_;
  Output output_;
};

}  // namespace detail

/// Sends each chunk of a source through an operator and writes what it makes, at the same place of
/// the target. A .npy file of rows has two dimensions unless the target has a shape. Its type must
/// be the operator's Output or, where that is a struct, say, of its size; it may have the other
/// byte order. The file appears when all of it is on the disk. Throws Error: as a fold, and
/// `output` or `usage` if the target cannot be written (see TargetFile), `interrupted` if the pass
/// was stopped; then nothing was written, and what was there before still is.
template <MapOperator Op, detail::PassSource From>
requires(!GatheringMapOperator<Op>) Stats
    map(Coordinator& coordinator, const Op& op, const From& from, const Target& target,
        const PassOptions& wanted = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  const detail::MadeRecords made = detail::made_by(op, inputs);
  detail::MapOutput output(inputs, target, made);
  const Coordinator::Reservation pass = coordinator.begin_pass();
  detail::Map<Op> operation(op, std::max(detail::record_bytes_of(inputs), made.bytes()));
  Stats stats = output.run(coordinator, pass, operation, wanted);
  output.commit(stats);
  return stats;
}

/// The same for an operator that gathers. Returns its total.
template <GatheringMapOperator Op, detail::PassSource From>
Result<typename Op::Partial> map(Coordinator& coordinator, const Op& op, const From& from,
                                 const Target& target, const PassOptions& wanted = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  const detail::MadeRecords made = detail::made_by(op, inputs);
  detail::MapOutput output(inputs, target, made);
  const Coordinator::Reservation pass = coordinator.begin_pass();
  detail::GatheringMap<Op> operation(op, coordinator,
                                     std::max(detail::record_bytes_of(inputs), made.bytes()));
  Stats stats = output.run(coordinator, pass, operation, wanted);
  auto total = operation.take();
  if constexpr (requires { op.check(std::as_const(total)); }) op.check(std::as_const(total));
  output.commit(stats);
  return {std::move(total), std::move(stats)};
}

/// Says what is missing where an operator's transform() is not const.
template <detail::MapLacksConst Op, detail::PassSource From, class... Others>
auto map(Coordinator&, const Op&, const From&, const Target&, const Others&...) {
  static_assert(MapOperator<Op>,
                "transform() of an operator must be const: write `void transform(...) const`");
  return Stats{};
}

}  // namespace ooc
