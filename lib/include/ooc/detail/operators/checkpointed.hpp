#pragma once

#include <ooc/detail/base/language.hpp>

#include <ooc/coordinator.hpp>
#include <ooc/detail/operators/checkpoint_file.hpp>
#include <ooc/detail/operators/fold_operation.hpp>
#include <ooc/detail/operators/part.hpp>
#include <ooc/detail/operators/part_file.hpp>
#include <ooc/detail/operators/result.hpp>
#include <ooc/detail/operators/resumable_job.hpp>
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

/// The parts that several operators have found.
template <class... Ops>
using PartsOf = std::tuple<Part<ResultOf<Ops>>...>;

/// Collects with several operators in one pass over the inputs. If it was stopped, the parts are of
/// the beginning; the inputs were read in order then. With `blocks`, of those records.
template <class... Ops>
Result<PartsOf<Ops...>> collect_pass(Coordinator& coordinator, Coordinator::Reservation& pass,
                                     const std::tuple<Ops...>& operators,
                                     std::span<const PassInput> inputs, const PassOptions& wanted,
                                     Blocks* blocks = nullptr) {
  return with_folds(coordinator, operators, inputs, [&](auto&... folds) {
    CompositeOperation together({&folds...});
    Stats stats = blocks == nullptr
                      ? coordinator.run(pass, inputs, together, wanted)
                      : coordinator.run_share(pass, inputs, together, wanted, {}, *blocks);
    const auto part = [&](auto& fold) {
      return fold.take_part(cover_of(inputs, fold.partition(), stats.outcome));
    };
    return Result<PartsOf<Ops...>>{PartsOf<Ops...>{part(folds)...}, std::move(stats)};
  });
}

/// Adds other parts of the same operators.
template <class... Values, std::size_t... i>
void merge_each(std::tuple<Part<Values>...>& found, std::tuple<Part<Values>...> more,
                std::index_sequence<i...> /*all*/) {
  (std::get<i>(found).merge(std::move(std::get<i>(more))), ...);
}

/// Returns the parts of the operators that a file has.
template <class... Ops, std::size_t... i>
PartsOf<Ops...> load_each(const std::tuple<Ops...>& operators, const PartFile& saved,
                          std::index_sequence<i...> /*all*/) {
  const auto load = [&](const auto& op, std::size_t index) {
    return saved.load(index, [&](const auto& bytes) { return load_part(op, bytes); });
  };
  return {load(std::get<i>(operators), i)...};
}

/// A fold with several operators.
template <class... Ops>
class FoldJob final : public ResumableJob {
 public:
  /// All references must outlive it. Throws Error(usage) for operators that look at neighbours if
  /// passes may be over sections.
  FoldJob(Coordinator& coordinator, Coordinator::Reservation& pass,
          const std::tuple<Ops...>& operators, std::span<const PassInput> inputs, bool in_sections)
      : coordinator_(coordinator), pass_(pass), operators_(operators), inputs_(inputs) {
    with_folds(coordinator, operators, inputs, [&](auto&... folds) {
      if (in_sections) (require_no_margin(folds.margin()), ...);
      partition_ = std::max({folds.partition()...});
    });
    FoldJob::clear();
  }

  /// Records, at whose multiples sections begin.
  std::size_t partition() const noexcept { return partition_; }

  void load(const PartFile& saved) override { merge(load_each(operators_, saved, all)); }
  std::span<const RecordRange> covers() const override { return std::get<0>(*found_).covers(); }
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
    std::apply([&](const auto&... parts) { (file.add(parts), ...); }, *found_);
  }

  /// Returns what was found.
  PartsOf<Ops...> take() { return std::move(*found_); }

 private:
  static constexpr auto all = std::index_sequence_for<Ops...>{};

  void merge(PartsOf<Ops...> more) { merge_each(*found_, std::move(more), all); }

  Coordinator& coordinator_;
  Coordinator::Reservation& pass_;
  const std::tuple<Ops...>& operators_;
  std::span<const PassInput> inputs_;
  std::size_t partition_ = 1;
  std::optional<PartsOf<Ops...>> found_;
};

/// Collects in passes over sections (see Checkpoint), or together with other ranks.
template <class... Ops>
Result<PartsOf<Ops...>> collect_divided(Coordinator& coordinator, Coordinator::Reservation& pass,
                                        const std::tuple<Ops...>& operators,
                                        std::span<const PassInput> inputs,
                                        const PassOptions& wanted, CheckpointFile& file) {
  FoldJob<Ops...> job(coordinator, pass, operators, inputs, file.is_wanted());
  const auto questions = std::apply(
      [](const Ops&... ops) { return std::array{operator_question(ops)...}; }, operators);
  const std::vector<const PartFile*> saved = file.begin(inputs, questions);
  Stats stats = run_divided(job, inputs, job.partition(), wanted, file, saved, coordinator.ranks());
  return {job.take(), std::move(stats)};
}

/// Folds in the same way.
template <class... Ops>
Result<std::tuple<ResultOf<Ops>...>> fold_divided(Coordinator& coordinator,
                                                  const std::tuple<Ops...>& operators,
                                                  std::span<const PassInput> inputs,
                                                  const PassOptions& wanted, CheckpointFile& file) {
  if constexpr ((SavableFold<Ops> && ...)) {
    Coordinator::Reservation pass = coordinator.begin_pass();
    auto [found, stats] = collect_divided(coordinator, pass, operators, inputs, wanted, file);
    const auto results = [](auto&... parts) {
      return std::tuple<ResultOf<Ops>...>{result_of_section(std::move(parts))...};
    };
    return {std::apply(results, found), std::move(stats)};
  } else {
    throw is_not_divided(coordinator.ranks(), ((merge_of<Ops>() == Merge::in_order) || ...));
  }
}

/// The same for a job of one pass.
template <class... Ops>
auto fold_divided(Coordinator& coordinator, const std::tuple<Ops...>& operators,
                  std::span<const PassInput> inputs, const PassOptions& wanted) {
  return or_fail_together(coordinator.ranks(), [&] {
    CheckpointFile file(wanted.checkpoint, coordinator.ranks());
    return fold_divided(coordinator, operators, inputs, wanted, file);
  });
}

}  // namespace ooc::detail
