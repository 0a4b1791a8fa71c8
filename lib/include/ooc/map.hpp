#pragma once

#include <ooc/fold.hpp>
#include <ooc/io/target.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace ooc {

/// Turns each element of a dataset into an element of a file. The operator is const.
///
///     struct Halve {
///       using Input = float;
///       using Output = float;
///       void transform(ooc::Stream&, ooc::DeviceChunk<const float> in,
///                      ooc::DeviceSpan<float> out) const;
///     };
///
/// `out` is as long as `in`, and all of it is to be set. An operator that also gathers a value on
/// the way is a GatheringMapOperator.
template <class Op>
concept MapOperator = requires(const Op op, Stream& stream,
                               DeviceChunk<const typename Op::Input> in,
                               DeviceSpan<typename Op::Output> out) {
  op.transform(stream, in, out);
};

/// A map that is a fold too: it has a Partial and merge(), and all that a FoldOperator may have.
/// `void check(const Partial& total) const`, if it has that, may throw: the file is then not
/// written.
template <class Op>
concept GatheringMapOperator = requires(const Op op, Stream& stream, typename Op::Partial& partial,
                                        DeviceChunk<const typename Op::Input> in,
                                        DeviceSpan<typename Op::Output> out) {
  op.transform(stream, in, out, partial);
  op.merge(partial, partial);
};

namespace detail {

/// An operator but for a missing const.
template <class Op>
concept MapLacksConst = !MapOperator<Op> && !GatheringMapOperator<Op> &&
                        requires(Op op, Stream& stream, DeviceChunk<const typename Op::Input> in,
                                 DeviceSpan<typename Op::Output> out) {
  op.transform(stream, in, out);
};

template <class T>
constexpr std::optional<ElementType> element_if_any() {
  if constexpr (IsElement<T>) return element_type_of<T>();
  return {};
}

/// The Operation that a map is.
template <class Op>
class Map final : public Operation {
 public:
  explicit Map(const Op& op) : op_(op) {}

  void begin(std::size_t /*lane*/, Stream& /*stream*/) override {}
  void process(std::size_t /*lane*/, Stream& stream, DeviceSpan<const std::byte> data,
               std::uint64_t first_byte, DeviceSpan<std::byte> out) override {
    op_.transform(stream, elements_of<typename Op::Input>(data, first_byte),
                  room_for<typename Op::Output>(out));
  }
  void end(std::size_t /*lane*/, Stream& /*stream*/) override {}

 private:
  const Op& op_;
};

/// The Operation that a gathering map is.
template <class Op>
class GatheringMap final : public Operation {
 public:
  GatheringMap(const Op& op, Coordinator& coordinator)
      : op_(op), partials_(op, coordinator.streams(), coordinator.device().facts()) {}

  std::size_t partition() const noexcept override { return partials_.partition(); }
  bool in_order() const noexcept override { return merge_of<Op>() == Merge::in_order; }
  void begin(std::size_t lane, Stream& stream) override { partials_.begin(lane, stream); }
  void process(std::size_t lane, Stream& stream, DeviceSpan<const std::byte> data,
               std::uint64_t first_byte, DeviceSpan<std::byte> out) override {
    const auto in = elements_of<typename Op::Input>(data, first_byte);
    const auto room = room_for<typename Op::Output>(out);
    partials_.consume(lane, stream, in.first, in.size,
                      [&](std::size_t offset, std::size_t count, typename Op::Partial& partial) {
                        op_.transform(stream, part_of(in, offset, count),
                                      DeviceSpan<typename Op::Output>{room.data + offset, count},
                                      partial);
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
  MapOutput(const Source& source, std::size_t input_bytes, const Target& target,
            std::size_t element_bytes, std::optional<ElementType> element);

  Stats run(Coordinator& coordinator, const Coordinator::Reservation& pass, Operation& operation,
            const PassOptions& wanted);
  void commit(Stats& stats);

 private:
  const Source& source_;
  std::size_t input_bytes_;
  TargetFile file_;
  Output output_;
};

}  // namespace detail

/// Sends each chunk of a source through an operator and writes what it makes, at the same place of
/// the target. The target's type must be the operator's Output or, where that is a struct, say, of
/// its size; it may have the other byte order. The file appears when all of it is on the disk.
/// Throws Error: as a fold, and `output` or `usage` if the target cannot be written (see
/// TargetFile), `interrupted` if the pass was stopped; then nothing was written, and what was there
/// before still is.
template <MapOperator Op>
requires(!GatheringMapOperator<Op>) Stats
    map(Coordinator& coordinator, const Op& op, const Source& source, const Target& target,
        const PassOptions& wanted = {}) {
  detail::require_type<typename Op::Input>(source);
  using Made = typename Op::Output;
  detail::MapOutput output(source, sizeof(typename Op::Input), target, sizeof(Made),
                           detail::element_if_any<Made>());
  const Coordinator::Reservation pass = coordinator.begin_pass();
  detail::Map<Op> operation(op);
  Stats stats = output.run(coordinator, pass, operation, wanted);
  output.commit(stats);
  return stats;
}

/// The same for an operator that gathers. Returns its total.
template <GatheringMapOperator Op>
Result<typename Op::Partial> map(Coordinator& coordinator, const Op& op, const Source& source,
                                 const Target& target, const PassOptions& wanted = {}) {
  detail::require_type<typename Op::Input>(source);
  using Made = typename Op::Output;
  detail::MapOutput output(source, sizeof(typename Op::Input), target, sizeof(Made),
                           detail::element_if_any<Made>());
  const Coordinator::Reservation pass = coordinator.begin_pass();
  detail::GatheringMap<Op> operation(op, coordinator);
  Stats stats = output.run(coordinator, pass, operation, wanted);
  auto total = operation.take();
  if constexpr (requires { op.check(std::as_const(total)); }) op.check(std::as_const(total));
  output.commit(stats);
  return {std::move(total), std::move(stats)};
}

/// Says what is missing where an operator's transform() is not const.
template <detail::MapLacksConst Op, class... Others>
auto map(Coordinator&, const Op&, const Source&, const Target&, const Others&...) {
  static_assert(MapOperator<Op>,
                "transform() of an operator must be const: write `void transform(...) const`");
  return Stats{};
}

}  // namespace ooc
