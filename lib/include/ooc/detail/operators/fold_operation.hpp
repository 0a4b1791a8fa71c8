#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>

#include <ooc/coordinator.hpp>
#include <ooc/detail/inputs/pass_inputs.hpp>
#include <ooc/detail/partials/partials.hpp>
#include <ooc/detail/parts/found.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace ooc::detail {

/// An Operation that gathers partials, with or without outputs.
template <class Op>
class Gathering : public Operation {
 public:
  /// `record_bytes`: of all inputs or, if that is more, of all outputs.
  Gathering(const Op& op, const DeviceFacts& device, std::size_t record_bytes)
      : op_(op), partials_(op, device, record_bytes) {}

  /// Throws Error(usage) for sections that are not whole partitions.
  void begin_with(std::span<const PassInput> inputs) {
    require_whole_partitions(inputs, partition());
    partials_.begin_at(records_before(inputs.front()));
  }

  std::size_t partition() const noexcept override { return partials_.partition(); }
  Margin margin() const noexcept override { return margin_of(op_); }
  HostBytes host_bytes() const noexcept override {
    if constexpr (requires { op_.host_bytes(); }) {
      return op_.host_bytes();
    } else {
      return {};
    }
  }
  bool in_order() const noexcept override { return merge_of<Op>() == Merge::in_order; }
  bool runs_on(DeviceKind kind) const noexcept override { return is_for<Op>(kind); }
  bool mixes_devices() const noexcept override { return has_same_bits_everywhere<Op>(); }
  void prepare(std::size_t lanes, std::size_t /*steps*/) override { partials_.prepare(lanes); }
  void begin(std::size_t lane, Stream& stream) override { partials_.begin(lane, stream); }
  void end(std::size_t lane, Stream& stream) override { partials_.end(lane, stream); }
  void abort() noexcept override { partials_.abort(); }

  ResultOf<Op> take() { return result_of(op_, partials_.take()); }

  /// Returns the findings of a part of a dataset, which the pass has covered.
  Found<ResultOf<Op>> take_part(Cover cover) {
    auto part = std::make_unique<PartOf<Op>>(op_);
    partials_.take_nodes([&](unsigned level, std::uint64_t index, typename Op::Partial partial) {
      part->add(level, index, std::move(partial));
    });
    return {std::move(cover), std::move(part)};
  }

 protected:
  /// Calls body(part, partial) for each partition of a step, or once for all of it.
  template <class Body>
  void gather(std::size_t lane, Stream& stream, const StepRecords& in, const Body& body) {
    partials_.consume(lane, stream, in.first, in.count,
                      [&](std::size_t offset, std::size_t count, typename Op::Partial& partial) {
                        body(StepPart{offset, count, margin_of(op_)}, partial);
                      });
  }

  const Op& op_;

 private:
  Partials<Op> partials_;
};

/// The Operation of a fold.
template <class Op>  // a FoldOperator
class Fold final : public Gathering<Op> {
 public:
  using Gathering<Op>::Gathering;

  void process(std::size_t lane, Stream& stream, const StepRecords& in,
               const StepResults& /*out*/) override {
    this->gather(lane, stream, in, [&](const StepPart& part, typename Op::Partial& partial) {
      call_with_inputs<typename Op::Input>(
          in, part, [&](auto... inputs) { this->op_.consume(stream, inputs..., partial); });
    });
  }
};

/// Several operations as one: each chunk goes through all of them, one after another.
class OOC_API CompositeOperation final : public Operation {
 public:
  explicit CompositeOperation(std::vector<Operation*> operations)
      : operations_(std::move(operations)) {}

  void prepare(std::size_t lanes, std::size_t steps) override;
  void begin(std::size_t lane, Stream& stream) override;
  void process(std::size_t lane, Stream& stream, const StepRecords& in,
               const StepResults& out) override;
  void end(std::size_t lane, Stream& stream) override;
  std::size_t partition() const noexcept override;        // the largest one
  Margin margin() const noexcept override;                // the largest one
  HostBytes host_bytes() const noexcept override;         // of all
  bool in_order() const noexcept override;                // if one of them is
  bool mixes_devices() const noexcept override;           // if all do
  bool runs_on(DeviceKind kind) const noexcept override;  // if all do
  void abort() noexcept override;

 private:
  std::vector<Operation*> operations_;
};

/// Calls run() with a Fold of each operator.
template <class... Ops, class Run>
auto with_folds(Coordinator& coordinator, const std::tuple<Ops...>& operators,
                std::span<const PassInput> inputs, const Run& run) {
  const auto call = [&](auto&&... folds) {
    (folds.begin_with(inputs), ...);
    return run(folds...);
  };
  const auto call_with = [&](const Ops&... ops) {
    return call(Fold<Ops>(ops, coordinator.device().facts(), record_bytes_of(inputs))...);
  };
  return std::apply(call_with, operators);
}

inline PassOptions without_keep_partial(PassOptions wanted) {
  wanted.keep_partial = false;
  return wanted;
}

}  // namespace ooc::detail
