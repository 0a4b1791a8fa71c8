#pragma once

#include <ooc/collect.hpp>
#include <ooc/detail/operators/fold_job.hpp>
#include <ooc/detail/parts/found.hpp>
#include <ooc/detail/pass/pass_input.hpp>

#include <memory>
#include <span>
#include <tuple>
#include <utility>

namespace ooc::detail {

/// Collects with an operator whose result is a partial of `findings`, and returns what it found as
/// a part of these. They merge without the operator, so that parts that were loaded need not say
/// from which inputs they are.
template <class Op, Savable Findings>
Result<PartialResult<ResultOf<Findings>>> collect_as(const Findings& findings,
                                                     Coordinator& coordinator, const Op& op,
                                                     std::span<const PassInput> inputs,
                                                     const PassOptions& wanted) {
  auto [all, stats] =
      collect_all(coordinator, std::tuple(op), inputs, without_keep_partial(wanted));
  auto& [found] = all;
  Cover cover = found.cover();
  auto part = std::make_unique<PartOf<Findings>>(findings);
  part->add(0, 0, std::move(found).result());
  return {PartialResult(Found<ResultOf<Findings>>(std::move(cover), std::move(part))),
          std::move(stats)};
}

}  // namespace ooc::detail
