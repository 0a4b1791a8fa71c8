#pragma once

#include <ooc/io/language.hpp>

#include <ooc/coordinator.hpp>
#include <ooc/input_type.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ooc {

/// Boils a dataset down to a value. The operator is const during a pass: what changes is in the
/// Partial, one for each stream. `Partial{}` must be neutral and merge() associative. Chunks come
/// in no particular order (those of a half cached file do not): `in.first` says where each belongs.
///
///     struct Sum {
///       using Input = float;
///       using Partial = double;
///       void consume(ooc::Stream&, ooc::DeviceChunk<const float> in, Partial& sum) const;
///       void merge(Partial& total, const Partial& part) const { total += part; }
///     };
///
/// An operator may also have
///
///  -  `Partial make_partial(Stream&) const`: partials with device memory of their own;
///  -  `void finish(Stream&, Partial&) const`: brings such a partial home after its last chunk;
///  -  `static constexpr bool merges_every_chunk = true`: merge(total, part) is called after every
///     chunk, by one stream at a time, and takes out of `part` what it has merged. For partials
///     that would otherwise grow with the file;
///  -  `static constexpr bool takes_any_chunk = true`: the total does not depend on which partials
///     have consumed which chunks, as that of a count does not and a rounded sum's does. Cores that
///     are faster than others may then do more of them;
///  -  `Value result(Partial) const`: makes what fold() returns of the total, which else is that.
///
/// Threads: consume() is called by one thread for each stream, by several at a time, each with a
/// Partial of its own; so is make_partial() before a stream's first chunk and finish() after its
/// last. merge() is called by one thread at a time, and result() by the thread that called fold().
/// Whatever else the operator refers to must be safe to be used by several threads.
///
/// Lifetime: a Partial ends before fold() returns, unless it is what fold() returns. A Buffer that
/// leaves in it, or in the result, has memory of the coordinator's device and must be destroyed
/// before the coordinator.
template <class Op>
concept FoldOperator = requires(const Op op, Stream& stream, typename Op::Partial& partial,
                                DeviceChunk<const typename Op::Input> in) {
  op.consume(stream, in, partial);
  op.merge(partial, partial);
};

/// For operators whose Partial is their own business: they derive theirs from OpaqueState. One that
/// holds nothing is neutral.
struct OpaqueState {
  virtual ~OpaqueState() = default;
};
using OpaquePartial = std::unique_ptr<OpaqueState>;

template <class T>
struct Result {
  T value;
  Stats stats;
};

namespace detail {

/// A chunk's bytes as elements.
template <class T>
DeviceChunk<const T> elements_of(DeviceSpan<const std::byte> data, std::uint64_t first_byte) {
  DeviceChunk<const T> chunk;
  chunk.data = reinterpret_cast<const T*>(data.data);
  chunk.size = data.size / sizeof(T);
  chunk.first = first_byte / sizeof(T);
  return chunk;
}

/// Room for a chunk's elements.
template <class T>
DeviceSpan<T> room_for(DeviceSpan<std::byte> out) {
  return {reinterpret_cast<T*>(out.data), out.size / sizeof(T)};
}

/// An operator but for a missing const.
template <class Op>
concept LacksConst =
    !FoldOperator<Op> && requires(Op op, Stream& stream, typename Op::Partial& partial,
                                  DeviceChunk<const typename Op::Input> in) {
  op.consume(stream, in, partial);
  op.merge(partial, partial);
};

template <class Op>
concept MergesEveryChunk = Op::merges_every_chunk;

template <class Op>
concept TakesAnyChunk = Op::takes_any_chunk;

/// The partial results of an operator, one for each lane.
template <class Op>
class Partials {
 public:
  using Partial = typename Op::Partial;

  Partials(const Op& op, std::size_t lanes) : op_(op), lanes_(lanes) {}

  Partial& operator[](std::size_t lane) { return lanes_[lane].partial; }

  void begin(std::size_t lane, Stream& stream) {
    if constexpr (requires { op_.make_partial(stream); }) {
      lanes_[lane].partial = op_.make_partial(stream);
    }
  }

  void after_chunk(std::size_t lane) {
    if constexpr (MergesEveryChunk<Op>) {
      const std::scoped_lock lock(mutex_);
      op_.merge(total_, lanes_[lane].partial);
    }
  }

  void end(std::size_t lane, Stream& stream) {
    if constexpr (requires { op_.finish(stream, lanes_[lane].partial); }) {
      op_.finish(stream, lanes_[lane].partial);
    }
  }

  Partial take() {
    for (Lane& lane : lanes_) op_.merge(total_, lane.partial);
    return std::move(total_);
  }

 private:
  struct alignas(128) Lane {  // apart, so that lanes do not share cache lines
    Partial partial{};
  };

  const Op& op_;
  std::vector<Lane> lanes_;
  std::mutex mutex_;
  Partial total_{};
};

/// What an operator's total becomes.
template <class Op>
auto result_of(const Op& op, typename Op::Partial total) {
  if constexpr (requires { op.result(std::move(total)); }) {
    return op.result(std::move(total));
  } else {
    return total;
  }
}

template <class Op>
using ResultOf = decltype(result_of(std::declval<const Op&>(), typename Op::Partial{}));

/// The Operation that a fold is.
template <FoldOperator Op>
class Fold final : public Operation {
 public:
  Fold(const Op& op, std::size_t lanes) : op_(op), partials_(op, lanes) {}

  void begin(std::size_t lane, Stream& stream) override { partials_.begin(lane, stream); }
  void process(std::size_t lane, Stream& stream, DeviceSpan<const std::byte> data,
               std::uint64_t first_byte, DeviceSpan<std::byte> /*out*/) override {
    op_.consume(stream, elements_of<typename Op::Input>(data, first_byte), partials_[lane]);
    partials_.after_chunk(lane);
  }
  void end(std::size_t lane, Stream& stream) override { partials_.end(lane, stream); }
  bool takes_any_chunk() const noexcept override { return TakesAnyChunk<Op>; }

  ResultOf<Op> take() { return result_of(op_, partials_.take()); }

 private:
  const Op& op_;
  Partials<Op> partials_;
};

/// Several operations as one: each chunk goes through all of them, one after another.
class CompositeOperation final : public Operation {
 public:
  explicit CompositeOperation(std::vector<Operation*> operations)
      : operations_(std::move(operations)) {}

  void begin(std::size_t lane, Stream& stream) override;
  void process(std::size_t lane, Stream& stream, DeviceSpan<const std::byte> data,
               std::uint64_t first_byte, DeviceSpan<std::byte> out) override;
  void end(std::size_t lane, Stream& stream) override;
  bool takes_any_chunk() const noexcept override;  // if all of them do

 private:
  std::vector<Operation*> operations_;
};

}  // namespace detail

/// Folds a source with an operator, on the calling thread and those of the coordinator, which runs
/// one pass at a time; the operator and the source must stay until it returns. A source of a known
/// type must hold the elements of the operator's Input (see ElementOf); one opened as plain bytes
/// is read as that Input, unless it is a .npy file. Throws Error, and Error(interrupted) if the
/// pass was stopped (see PassOptions::keep_partial).
template <FoldOperator Op>
Result<detail::ResultOf<Op>> fold(Coordinator& coordinator, const Op& op, const Source& source,
                                  const PassOptions& wanted = {}) {
  using Input = typename Op::Input;
  detail::require_type<Input>(source);
  const Coordinator::Reservation pass = coordinator.begin_pass();
  detail::Fold<Op> operation(op, coordinator.streams());
  Stats stats = coordinator.run(pass, source, sizeof(Input), operation, wanted);
  return {operation.take(), std::move(stats)};
}

/// Says what is missing where an operator's functions are not const.
template <detail::LacksConst Op, class... Others>
auto fold(Coordinator&, const Op&, const Source&, const Others&...) {
  static_assert(FoldOperator<Op>,
                "consume() and merge() of an operator must be const: write `void consume(...) "
                "const`, and keep what changes during a pass in the Partial");
  return Result<typename Op::Partial>{};
}

/// Folds a source with several operators of one Input in one pass. Each finds what it finds alone,
/// to the bit: it is given the same chunks, and knows nothing of the others. If one fails, all do.
///
///     auto [found, stats] = ooc::fold(coordinator, std::tuple{Sum{}, Reduction<float>{}}, prices);
///     auto& [sum, statistics] = found;
template <FoldOperator Op, FoldOperator... Others>
requires(std::same_as<typename Op::Input, typename Others::Input>&&...)
    Result<std::tuple<detail::ResultOf<Op>, detail::ResultOf<Others>...>> fold(
        Coordinator& coordinator, const std::tuple<Op, Others...>& operators, const Source& source,
        const PassOptions& wanted = {}) {
  using Input = typename Op::Input;
  detail::require_type<Input>(source);
  const Coordinator::Reservation pass = coordinator.begin_pass();
  const auto run = [&](auto&&... folds) {
    detail::CompositeOperation together({&folds...});
    Stats stats = coordinator.run(pass, source, sizeof(Input), together, wanted);
    using Results = std::tuple<decltype(folds.take())...>;
    return Result<Results>{Results{folds.take()...}, std::move(stats)};
  };
  const auto run_all = [&](const auto&... ops) {
    return run(detail::Fold<std::remove_cvref_t<decltype(ops)>>(ops, coordinator.streams())...);
  };
  return std::apply(run_all, operators);
}

}  // namespace ooc
