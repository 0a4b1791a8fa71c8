#pragma once

#include <ooc/detail/pass/operation.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/detail/pool/turns.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ooc::detail {

/// The plan of what a pass appends to its outputs: the place of each step is known when the lengths
/// of all steps before it are. Lanes append their steps one after another; the writer asks for a
/// chunk once it is computed.
class Appender final : public Plan {
 public:
  /// `reads`: the plan of the pass, whose steps are chunks. `window`: the chunks that lanes and
  /// writer work on at a time differ modulo this number. All references must outlive it.
  Appender(std::span<const Output> outputs, const SequentialPlan& reads, std::size_t window);

  /// Waits until all chunks before this one have been appended. Throws Aborted.
  void wait(std::size_t chunk) { turns_.wait(chunk, ChunkState::empty); }

  /// Waits as wait() does, and takes the next bytes of each
  /// output for it. `made`: number of records for each output, at most `most`. Returns the extents
  /// that empty, one for each output at most; Extent::input says which. Throws Error, Aborted.
  std::span<const Extent> append(std::size_t chunk, std::span<const std::uint64_t> made,
                                 std::uint64_t most);

  /// Stands for a number of records that the operation has not set. An operation that adds to it
  /// exceeds every maximum.
  static constexpr std::uint64_t not_said = std::uint64_t{1} << 63;

  /// The turns that lanes wait for. A pass aborts them if one of its threads fails.
  Turns& turns() noexcept { return turns_; }

  std::size_t size() const noexcept override { return reads_.size(); }
  std::size_t max_extents() const noexcept override { return outputs_.size(); }
  std::span<const Extent> extents(std::size_t chunk, std::span<Extent> storage) const override;

 private:
  std::span<const Output> outputs_;
  const SequentialPlan& reads_;
  Turns turns_{1};                            // chunk k after chunk k - 1
  std::vector<std::vector<Extent>> extents_;  // by chunk modulo the window
};

}  // namespace ooc::detail
