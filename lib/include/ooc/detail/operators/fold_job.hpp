#pragma once

#include <ooc/detail/base/language.hpp>

#include <ooc/coordinator.hpp>
#include <ooc/detail/operators/fold_operation.hpp>
#include <ooc/detail/parts/found.hpp>
#include <ooc/detail/parts/resumable_job.hpp>
#include <ooc/detail/parts/saved_part.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/detail/ranks/together.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

// Folds whose findings are saved from time to time (see Checkpoint), or shared among Ranks.

namespace ooc::detail {

/// The findings of several operators.
template <class... Ops>
using FoundBy = std::tuple<Found<ResultOf<Ops>>...>;

/// Collects with several operators in one pass over the inputs. After a stop, the parts cover the
/// beginning of the inputs, which were read in order. With `blocks`, the parts cover these.
template <class... Ops>
Result<FoundBy<Ops...>> collect_pass(Coordinator& coordinator, Reservation& pass,
                                     const std::tuple<Ops...>& operators,
                                     std::span<const PassInput> inputs, const PassOptions& wanted,
                                     Blocks* blocks = nullptr) {
  return with_folds(coordinator, operators, inputs, [&](auto&... folds) {
    CompositeOperation together({&folds...});
    Stats stats = blocks == nullptr
                      ? run_pass(coordinator, pass, inputs, together, wanted)
                      : run_share(coordinator, pass, inputs, together, wanted, {}, *blocks);
    const auto part = [&](auto& fold) {
      return fold.take_part(cover_of(inputs, fold.partition(), stats.outcome));
    };
    return Result<FoundBy<Ops...>>{FoundBy<Ops...>{part(folds)...}, std::move(stats)};
  });
}

/// Adds other parts of the same operators.
template <class... Values, std::size_t... i>
void merge_each(std::tuple<Found<Values>...>& found, std::tuple<Found<Values>...> more,
                std::index_sequence<i...> /*all*/) {
  (std::get<i>(found).merge(std::move(std::get<i>(more))), ...);
}

/// Returns the parts of the operators that a file has.
template <class... Ops, std::size_t... i>
FoundBy<Ops...> load_each(const std::tuple<Ops...>& operators, const PartFile& saved,
                          std::index_sequence<i...> /*all*/) {
  return {load_saved(std::get<i>(operators), saved, i)...};
}

/// A fold with several operators.
template <class... Ops>
class FoldJob final : public ResumableJob {
 public:
  /// All references must outlive it. Throws Error(usage) for operators that look at neighbours if
  /// passes may be over sections.
  FoldJob(Coordinator& coordinator, Reservation& pass, const std::tuple<Ops...>& operators,
          std::span<const PassInput> inputs, bool in_sections)
      : coordinator_(coordinator), pass_(pass), operators_(operators), inputs_(inputs) {
    with_folds(coordinator, operators, inputs, [&](auto&... folds) {
      if (in_sections) (require_no_margin(folds.margin()), ...);
      partition_ = std::max({folds.partition()...});
    });
    FoldJob::clear();
  }

  /// Returns the number of records at whose multiples sections begin.
  std::size_t partition() const noexcept { return partition_; }

  void load(const PartFile& saved) override { merge(load_each(operators_, saved, all)); }
  std::span<const RecordRange> covers() const override {
    return std::get<0>(*found_).cover().ranges;
  }
  void clear() override {
    with_folds(coordinator_, operators_, inputs_, [&](auto&... folds) {
      found_.emplace(folds.take_part(cover_of(inputs_, folds.partition(), OutcomeStats{}))...);
    });
  }
  Stats run(std::span<const PassInput> section, const PassOptions& wanted,
            Blocks* blocks) override {
    auto [parts, stats] = collect_pass(coordinator_, pass_, operators_, section, wanted, blocks);
    merge(std::move(parts));
    return std::move(stats);
  }
  void add_to(PartFile& file) const override {
    std::apply([&](const auto&... found) { (add_found(file, found), ...); }, *found_);
  }

  /// Returns what was found.
  FoundBy<Ops...> take() { return std::move(*found_); }

 private:
  static constexpr auto all = std::index_sequence_for<Ops...>{};

  void merge(FoundBy<Ops...> more) { merge_each(*found_, std::move(more), all); }

  Coordinator& coordinator_;
  Reservation& pass_;
  const std::tuple<Ops...>& operators_;
  std::span<const PassInput> inputs_;
  std::size_t partition_ = 1;
  std::optional<FoundBy<Ops...>> found_;
};

/// Collects in passes over sections (see Checkpoint), or together with other ranks. `file`: the
/// checkpoint of a job of several passes; null if this pass is the whole job.
template <class... Ops>
Result<FoundBy<Ops...>> collect_divided(Coordinator& coordinator, Reservation& pass,
                                        const std::tuple<Ops...>& operators,
                                        std::span<const PassInput> inputs,
                                        const PassOptions& wanted, CheckpointFile* file) {
  FoldJob<Ops...> job(coordinator, pass, operators, inputs, bool{wanted.checkpoint});
  const auto questions = std::apply(
      [](const Ops&... ops) { return std::array{operator_question(ops)...}; }, operators);
  Stats stats = run_divided(job, inputs, job.partition(), wanted, questions, coordinator, file);
  return {job.take(), std::move(stats)};
}

/// Collects in one pass or, with a checkpoint or several ranks, by collect_divided().
template <class... Ops>
Result<FoundBy<Ops...>> collect_all(Coordinator& coordinator, const std::tuple<Ops...>& operators,
                                    std::span<const PassInput> inputs, const PassOptions& wanted) {
  Reservation pass = begin_pass(coordinator);
  if (!is_divided(coordinator, wanted)) {
    return collect_pass(coordinator, pass, operators, inputs, wanted);
  }
  return or_fail_together(coordinator.ranks(), [&] {
    return collect_divided(coordinator, pass, operators, inputs, wanted, nullptr);
  });
}

/// Folds like collect_divided(), with the same `file`, and returns the results.
template <class... Ops>
Result<std::tuple<ResultOf<Ops>...>> fold_divided(Coordinator& coordinator,
                                                  const std::tuple<Ops...>& operators,
                                                  std::span<const PassInput> inputs,
                                                  const PassOptions& wanted,
                                                  CheckpointFile* file = nullptr) {
  if constexpr ((Savable<Ops> && ...)) {
    return or_fail_together(coordinator.ranks(), [&] {
      Reservation pass = begin_pass(coordinator);
      auto [found, stats] = collect_divided(coordinator, pass, operators, inputs, wanted, file);
      const auto results = [](auto&... each) {
        return std::tuple<ResultOf<Ops>...>{std::move(each).result()...};
      };
      return Result<std::tuple<ResultOf<Ops>...>>{std::apply(results, found), std::move(stats)};
    });
  } else {
    throw is_not_divided(coordinator.ranks(), ((merge_of<Ops>() == Merge::in_order) || ...));
  }
}

}  // namespace ooc::detail
