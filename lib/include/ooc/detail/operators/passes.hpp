#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/detail/inputs/pass_inputs.hpp>
#include <ooc/detail/operators/fold_job.hpp>
#include <ooc/detail/parts/checkpoint_file.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>
#include <ooc/stats.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace ooc::detail {

/// A job that folds the same inputs several times, with operators that depend on what earlier
/// passes have found:
///
///     Passes passes(coordinator, inputs_of<float>(source), wanted);
///     const auto [range] = passes.fold(std::tuple{FindRange{}});
///     if (passes.is_stopped()) return ...;
///     auto [counts] = passes.fold_last(std::tuple{Count{range}});
///     return {counts, passes.stats()};
///
/// It decides whether data stay on the device between passes, keeps the findings of complete passes
/// in the checkpoint, if there is one, and adds up the statistics. If ranks share the passes, the
/// caller makes them fail together (see or_fail_together()). Threads: one at a time.
class Passes {
 public:
  /// `inputs`: those of each operator. Their sources and all references must outlive it. Throws
  /// Error as CheckpointFile().
  Passes(Coordinator& coordinator, std::span<const PassInput> inputs, const PassOptions& wanted);

  /// Folds the inputs in a pass before the last one. If an earlier run has completed the pass,
  /// returns what it has found, and reads nothing. Throws Error as fold(), and `input_changed` if
  /// the checksum is not that of the passes before.
  template <class... Ops>
  requires(Savable<Ops>&&...) std::tuple<ResultOf<Ops>...> fold(const std::tuple<Ops...>& ops) {
    if (!file_) {
      keep_on_device();
      return fold_all(ops);
    }
    std::optional<FoundBy<Ops...>> found = kept_findings(ops, std::index_sequence_for<Ops...>{});
    if (found) {
      add_kept_pass();
    } else {
      Reservation pass = begin_pass(coordinator_);
      auto [all, stats] = collect_divided(coordinator_, pass, ops, inputs_, wanted_, &*file_);
      found.emplace(std::move(all));
      file_->end();
      add(std::move(stats));
    }
    return std::apply(
        [&](auto&... each) {
          (file_->keep(each.save()), ...);
          return std::tuple<ResultOf<Ops>...>{std::move(each).result()...};
        },
        *found);
  }

  /// Folds the inputs in the last pass. Throws Error as the function above.
  template <class... Ops>
  std::tuple<ResultOf<Ops>...> fold_last(const std::tuple<Ops...>& ops) {
    if (!file_) return fold_all(ops);
    auto [found, stats] = fold_divided(coordinator_, ops, inputs_, wanted_, &*file_);
    add(std::move(stats));
    return std::move(found);
  }

  /// True if the last pass was stopped early, so that the next one cannot be run.
  bool is_stopped() const noexcept { return stats_ && stats_->outcome.partial; }

  /// Returns the statistics of all passes together, whose records are those of the last one.
  Stats stats() const { return stats_.value_or(Stats{}); }

 private:
  template <class... Ops>
  std::tuple<ResultOf<Ops>...> fold_all(const std::tuple<Ops...>& ops) {
    auto [found, stats] = fold_inputs(coordinator_, ops, inputs_, wanted_);
    add(std::move(stats));
    return std::move(found);
  }

  /// Returns what an earlier run has kept of the next pass. Empty if it has kept nothing, or if
  /// that is of another job, which the pass itself refuses.
  template <class... Ops, std::size_t... i>
  std::optional<FoundBy<Ops...>> kept_findings(const std::tuple<Ops...>& ops,
                                               std::index_sequence<i...> /*all*/) {
    const auto kept = file_->kept();
    const std::size_t first = std::exchange(next_finding_, next_finding_ + sizeof...(Ops));
    if (kept.size() < next_finding_) return {};
    try {
      FoundBy<Ops...> found{load_found(std::get<i>(ops), kept[first + i])...};
      if (!(covers_all(std::get<i>(found).cover()) && ...)) return {};
      return found;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      return {};
    }
  }

  void keep_on_device();
  bool covers_all(const Cover& cover) const;
  void add(Stats stats);
  void add_kept_pass();

  Coordinator& coordinator_;
  std::vector<PassInput> inputs_;  // with the memory of the data that stay on the device
  const PassOptions& wanted_;
  std::optional<CheckpointFile> file_{};
  std::size_t next_finding_ = 0;  // number of findings of the passes so far
  std::optional<Stats> stats_{};  // of the passes so far
};

}  // namespace ooc::detail
