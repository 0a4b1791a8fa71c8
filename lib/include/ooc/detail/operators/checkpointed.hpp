#pragma once

#include <ooc/detail/base/language.hpp>

#include <ooc/coordinator.hpp>
#include <ooc/detail/operators/checkpoint_file.hpp>
#include <ooc/detail/operators/fold_operation.hpp>
#include <ooc/detail/operators/part.hpp>
#include <ooc/detail/operators/part_file.hpp>
#include <ooc/detail/operators/result.hpp>
#include <ooc/detail/operators/sections.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <tuple>
#include <typeinfo>
#include <utility>

// Folds whose findings are saved from time to time: see Checkpoint.

namespace ooc::detail {

/// The parts that several operators have found.
template <class... Ops>
using PartsOf = std::tuple<Part<ResultOf<Ops>>...>;

/// Collects with several operators in one pass over the inputs. If it was stopped, the parts are of
/// the beginning; the inputs were read in order then.
template <class... Ops>
Result<PartsOf<Ops...>> collect_pass(Coordinator& coordinator, Coordinator::Reservation& pass,
                                     const std::tuple<Ops...>& operators,
                                     std::span<const PassInput> inputs, const PassOptions& wanted) {
  return with_folds(coordinator, operators, inputs, [&](auto&... folds) {
    CompositeOperation together({&folds...});
    Stats stats = coordinator.run(pass, inputs, together, wanted);
    const auto part = [&](auto& fold) {
      return fold.take_part(cover_of(inputs, fold.partition(), stats.outcome.bytes));
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

/// Collects in passes over sections, and saves the findings from time to time, when the job was
/// stopped, and at the end (see Checkpoint).
template <class... Ops>
Result<PartsOf<Ops...>> collect_in_sections(Coordinator& coordinator,
                                            Coordinator::Reservation& pass,
                                            const std::tuple<Ops...>& operators,
                                            std::span<const PassInput> inputs,
                                            const PassOptions& wanted, CheckpointFile& file) {
  constexpr auto all = std::index_sequence_for<Ops...>{};
  const auto began = std::chrono::steady_clock::now();
  const auto questions = std::apply(
      [](const Ops&... ops) {
        return std::array{OperatorQuestion{Ops::partial_name, question_of(ops),
                                           typeid(typename Ops::Input).name()}...};
      },
      operators);
  std::size_t partition = 1;
  auto found = with_folds(coordinator, operators, inputs, [&](auto&... folds) {
    if (!(folds.margin().is_empty() && ...)) throw has_no_checkpoints("it looks at neighbours");
    partition = std::max({folds.partition()...});
    return PartsOf<Ops...>{folds.take_part(cover_of(inputs, folds.partition(), 0))...};
  });
  const auto covered = [&] { return std::get<0>(found).covers(); };
  Sections sections(inputs, partition, wanted);
  if (const PartFile* const saved = file.begin(inputs, questions)) {
    merge_each(found, load_each(operators, *saved, all), all);
    sections.go_on_after(covered());
  }
  const auto save = [&] {
    PartFile now = file.empty();
    std::apply([&](const auto&... parts) { (now.add(parts), ...); }, found);
    file.save(now);
  };
  save();  // an error about the file is to come before the work
  sections.add_seconds(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  for (;;) {
    const std::span<const PassInput> section = sections.next(covered());
    auto [parts, stats] = collect_pass(coordinator, pass, operators, section, sections.options());
    merge_each(found, std::move(parts), all);
    sections.add(stats);
    const bool is_done = sections.is_done(covered());
    const bool is_stopped = wanted.stop.stop_requested();
    if (is_done || is_stopped || sections.is_due()) sections.save(save);
    if (is_done) return {std::move(found), sections.stats()};
    if (is_stopped) throw sections.interrupted();
  }
}

/// Folds in passes over sections, as collect_in_sections() does.
template <class... Ops>
Result<std::tuple<ResultOf<Ops>...>> fold_in_sections(Coordinator& coordinator,
                                                      const std::tuple<Ops...>& operators,
                                                      std::span<const PassInput> inputs,
                                                      const PassOptions& wanted,
                                                      CheckpointFile& file) {
  if constexpr ((SavableFold<Ops> && ...)) {
    Coordinator::Reservation pass = coordinator.begin_pass();
    auto [found, stats] = collect_in_sections(coordinator, pass, operators, inputs, wanted, file);
    const auto results = [](auto&... parts) {
      return std::tuple<ResultOf<Ops>...>{result_of_section(std::move(parts))...};
    };
    return {std::apply(results, found), std::move(stats)};
  } else {
    throw has_no_checkpoints(why_not_saved(((merge_of<Ops>() == Merge::in_order) || ...)));
  }
}

/// The same for a job of one pass.
template <class... Ops>
auto fold_with_checkpoint(Coordinator& coordinator, const std::tuple<Ops...>& operators,
                          std::span<const PassInput> inputs, const PassOptions& wanted) {
  CheckpointFile file(wanted.checkpoint);
  return fold_in_sections(coordinator, operators, inputs, wanted, file);
}

}  // namespace ooc::detail
