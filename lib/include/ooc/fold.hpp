#pragma once

#include <ooc/coordinator.hpp>

#include <concepts>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ooc {

/// Boils a dataset down to a value. The operator is const during a pass: what changes is in the
/// Partial, one for each stream. `Partial{}` must be neutral and merge() associative.
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
///     that would otherwise grow with the file.
template <class Op>
concept FoldOperator = requires(const Op op, Stream& stream, typename Op::Partial& partial,
                                DeviceChunk<const typename Op::Input> in) {
  op.consume(stream, in, partial);
  op.merge(partial, partial);
};

template <class T>
struct Result {
  T value;
  Stats stats;
};

namespace detail {

template <class Op>
concept MergesEveryChunk = Op::merges_every_chunk;

/// The Operation that a fold is.
template <FoldOperator Op>
class Fold final : public Operation {
 public:
  using Input = typename Op::Input;
  using Partial = typename Op::Partial;

  Fold(const Op& op, std::size_t lanes) : op_(op), lanes_(lanes) {}

  void begin(std::size_t lane, Stream& stream) override {
    if constexpr (requires { op_.make_partial(stream); }) {
      lanes_[lane].partial = op_.make_partial(stream);
    }
  }

  void process(std::size_t lane, Stream& stream, DeviceSpan<const std::byte> data,
               std::uint64_t first_byte) override {
    DeviceChunk<const Input> in;
    in.data = reinterpret_cast<const Input*>(data.data);
    in.size = data.size / sizeof(Input);
    in.first = first_byte / sizeof(Input);
    op_.consume(stream, in, lanes_[lane].partial);
    if constexpr (MergesEveryChunk<Op>) {
      const std::scoped_lock lock(mutex_);
      op_.merge(total_, lanes_[lane].partial);
    }
  }

  void end(std::size_t lane, Stream& stream) override {
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

/// Throws Error(bad_input) unless the source holds elements of type T.
void require_type(const Source& source, ElementType wanted);

}  // namespace detail

/// Folds a source with an operator. A source of a known type must hold the operator's Input; one
/// opened as plain bytes is read as that. Throws Error.
template <FoldOperator Op>
Result<typename Op::Partial> fold(Coordinator& coordinator, const Op& op, const Source& source) {
  using Input = typename Op::Input;
  detail::require_type(source, element_type_of<Input>());
  detail::Fold<Op> operation(op, coordinator.streams());
  Stats stats = coordinator.run(source, sizeof(Input), operation);
  return {operation.take(), std::move(stats)};
}

}  // namespace ooc
