#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/detail/inputs/pass_inputs.hpp>
#include <ooc/detail/operators/fold_job.hpp>
#include <ooc/detail/parts/checkpoint_file.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>
#include <ooc/resident.hpp>
#include <ooc/source.hpp>
#include <ooc/stats.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace ooc::detail {

/// A job that folds one source several times, with operators that depend on what earlier passes
/// have found:
///
///     Passes passes(coordinator, source, wanted);
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
  /// All references must outlive it. Throws Error as CheckpointFile().
  Passes(Coordinator& coordinator, const Source& source, const PassOptions& wanted);

  /// Folds the source in a pass before the last one. If an earlier run has completed the pass,
  /// returns what it has found, and reads nothing. Throws Error as fold(), and `input_changed` if
  /// the checksum is not that of the passes before.
  template <class... Ops>
  requires(Savable<Ops>&&...) std::tuple<ResultOf<Ops>...> fold(const std::tuple<Ops...>& ops) {
    if (!file_) {
      keep_on_device();
      return fold_all(ops);
    }
    const auto inputs = inputs_of<InputOf<std::tuple<Ops...>>>(source_);
    std::optional<FoundBy<Ops...>> found =
        kept_findings(ops, inputs, std::index_sequence_for<Ops...>{});
    if (found) {
      add_kept_pass();
    } else {
      Reservation pass = begin_pass(coordinator_);
      auto [all, stats] = collect_divided(coordinator_, pass, ops, inputs, wanted_, &*file_);
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

  /// Folds the source in the last pass. Throws Error as the function above.
  template <class... Ops>
  std::tuple<ResultOf<Ops>...> fold_last(const std::tuple<Ops...>& ops) {
    if (!file_) return fold_all(ops);
    const auto inputs = inputs_of<InputOf<std::tuple<Ops...>>>(source_);
    auto [found, stats] = fold_divided(coordinator_, ops, inputs, wanted_, &*file_);
    add(std::move(stats));
    return std::move(found);
  }

  /// True if the last pass was stopped early, so that the next one cannot be run.
  bool is_stopped() const noexcept { return stats_ && stats_->outcome.partial; }

  /// Returns the statistics of all passes together, whose records are those of the last one.
  Stats stats() const { return stats_.value_or(Stats{}); }

 private:
  template <class Ops>
  using InputOf = typename std::tuple_element_t<0, Ops>::Input;

  template <class... Ops>
  std::tuple<ResultOf<Ops>...> fold_all(const std::tuple<Ops...>& ops) {
    auto [found, stats] = resident_ ? ooc::fold(coordinator_, ops, *resident_, wanted_)
                                    : ooc::fold(coordinator_, ops, source_, wanted_);
    add(std::move(stats));
    return std::move(found);
  }

  /// Returns what an earlier run has kept of the next pass. Empty if it has kept nothing, or if
  /// that is of another job, which the pass itself refuses.
  template <class... Ops, std::size_t... i>
  std::optional<FoundBy<Ops...>> kept_findings(const std::tuple<Ops...>& ops,
                                               std::span<const PassInput> inputs,
                                               std::index_sequence<i...> /*all*/) {
    const auto kept = file_->kept();
    const std::size_t first = std::exchange(next_finding_, next_finding_ + sizeof...(Ops));
    if (kept.size() < next_finding_) return {};
    try {
      FoundBy<Ops...> found{load_found(std::get<i>(ops), kept[first + i])...};
      if (!(covers_all(std::get<i>(found).cover(), inputs) && ...)) return {};
      return found;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      return {};
    }
  }

  void keep_on_device();
  static bool covers_all(const Cover& cover, std::span<const PassInput> inputs);
  void add(Stats stats);
  void add_kept_pass();

  Coordinator& coordinator_;
  const Source& source_;
  const PassOptions& wanted_;
  std::optional<CheckpointFile> file_{};
  std::optional<Resident> resident_{};  // the source, with the data that stay on the device
  std::size_t next_finding_ = 0;        // number of findings of the passes so far
  std::optional<Stats> stats_{};        // of the passes so far
};

}  // namespace ooc::detail
