#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/detail/pass/run_pass.hpp>

#include <ooc/collect.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/detail/operators/fold_operation.hpp>
#include <ooc/detail/operators/outputs.hpp>
#include <ooc/detail/parts/resumable_job.hpp>
#include <ooc/detail/ranks/together.hpp>
#include <ooc/stats.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Passes that write files, in one piece or over sections.

namespace ooc::detail {

/// The findings of an operator that only writes: none.
struct Nothing {};

/// A fold without a result. Its parts record which records an operator has seen.
template <class Op>
class SeenBy {
 public:
  using Input = typename Op::Input;
  using Partial = Nothing;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr std::string_view partial_name = Op::partial_name;

  explicit SeenBy(const Op& op) : question_(question_of(op)) {}

  std::string question() const { return question_; }
  void merge(Nothing& /*total*/, const Nothing& /*part*/) const {}
  void save(const Nothing& /*partial*/, std::vector<std::byte>& /*out*/) const {}
  void load(std::span<const std::byte> /*in*/, Nothing& /*partial*/) const {}

 private:
  std::string question_;
};

/// True if parts of what an operation makes can be saved.
template <class Operation, class Op>
concept SavesParts = requires {
  std::string_view(Op::partial_name);
}
&&Savable<typename Operation::Finder>;

/// Returns the operation of an operator, which is told the number of outputs if it divides records.
/// `record_bytes`: of all inputs or, if that is more, of all outputs.
template <class Operation, class Op>
Operation operation_for(const Op& op, Coordinator& coordinator, std::size_t record_bytes,
                        std::size_t outputs) {
  if constexpr (std::is_constructible_v<Operation, const Op&, std::size_t, std::size_t>) {
    return Operation(op, record_bytes, outputs);
  } else if constexpr (std::is_constructible_v<Operation, const Op&, Coordinator&, std::size_t>) {
    return Operation(op, coordinator, record_bytes);
  } else {
    return Operation(op, coordinator.device().facts(), record_bytes);
  }
}

/// Prepares an operation for a pass over these inputs.
template <class Operation>
void begin(Operation& operation, std::span<const PassInput> inputs) {
  if constexpr (requires { operation.begin_with(inputs); }) operation.begin_with(inputs);
}

/// Returns the part of an operation without findings: the records that it covers.
template <class Op>
Found<Nothing> part_without_findings(const Op& op, Cover cover) {
  return {std::move(cover), std::make_unique<PartOf<SeenBy<Op>>>(SeenBy<Op>(op))};
}

/// A job that writes files. Its Operation is made by operation_for(). It has a SavableFold
/// `Finder`, of which the job's findings are parts, and a function take_part().
template <class Operation, class Op>
class OutputJob final : public ResumableJob {
 public:
  using Finder = typename Operation::Finder;
  using Value = ResultOf<Finder>;

  /// `record_bytes`: of all inputs or, if that is more, of all outputs. All references must outlive
  /// it. Throws Error(usage) for operators that look at neighbours if passes may be over sections.
  OutputJob(const Op& op, Coordinator& coordinator, std::size_t record_bytes,
            std::span<const PassInput> inputs, OutputFiles& files, CheckpointFile& file)
      : op_(op),
        finder_(Operation::finder(op)),
        coordinator_(coordinator),
        pass_(begin_pass(coordinator)),
        record_bytes_(record_bytes),
        inputs_(inputs),
        first_(records_before(inputs.front())),
        files_(files),
        file_(file) {
    const Operation operation = make();
    if (file.is_wanted()) require_no_margin(operation.margin());
    partition_ = operation.partition();
    OutputJob::clear();
  }

  /// Records, at whose multiples sections begin.
  std::size_t partition() const noexcept { return partition_; }

  void load(const PartFile& saved) override { found_->merge(load_saved(finder_, saved, 0)); }

  std::span<const RecordRange> covers() const override { return found_->cover().ranges; }

  void clear() override {
    found_.emplace(cover_of(inputs_, partition_, OutcomeStats{}),
                   std::make_unique<PartOf<Finder>>(finder_));
  }

  Stats run(std::span<const PassInput> section, const PassOptions& wanted,
            Blocks* blocks) override {
    Operation operation = make();
    begin(operation, section);
    if constexpr (requires { operation.begin_after(std::declval<Value>()); }) {
      operation.begin_after(load_found(finder_, found_->save()).result());
    }
    files_.go_to(records_before(section.front()) - first_);
    Stats stats =
        blocks == nullptr
            ? run_pass(coordinator_, pass_, section, operation, wanted, files_.outputs())
            : run_share(coordinator_, pass_, section, operation, wanted, files_.outputs(), *blocks);
    found_->merge(operation.take_part(cover_of(section, operation.partition(), stats.outcome)));
    return stats;
  }

  void make_durable() override {
    files_.keep();
    file_.set_outputs(files_.saved(false));
  }

  std::vector<std::string> kept_files() const override { return files_.kept_names(); }

  void add_to(PartFile& file) const override { add_found(file, *found_); }

  /// Returns what was found.
  Value take() { return std::move(*found_).result(); }

 private:
  Operation make() const {
    return operation_for<Operation>(op_, coordinator_, record_bytes_, files_.outputs().size());
  }

  const Op& op_;
  Finder finder_;
  Coordinator& coordinator_;
  Reservation pass_;
  std::size_t record_bytes_;
  std::span<const PassInput> inputs_;
  std::uint64_t first_;  // index of the first input record in the whole source
  OutputFiles& files_;
  CheckpointFile& file_;
  std::size_t partition_ = 1;
  std::optional<Found<Value>> found_;
};

/// The findings of a job, and the records that it has appended.
template <class Value>
struct Written {
  Value value{};
  Stats stats{};
  std::vector<std::uint64_t> appended{};  // records, if the files were appended to
};

/// The targets of a pass, and its records.
struct Writing {
  std::span<const Target> targets;
  std::span<const MadeRecords> made;  // for each target
  std::size_t record_bytes;           // of all inputs or, if that is more, of a record in each room
  Purpose purpose = Purpose::write;
};

inline std::vector<std::uint64_t> appended_to(const OutputFiles& files) {
  std::vector<std::uint64_t> appended(files.outputs().size());
  for (std::size_t i = 0; i < appended.size(); ++i) appended[i] = files.appended(i);
  return appended;
}

/// Writes in passes over sections (see Checkpoint), or together with other ranks, of which the
/// first one makes the files and moves them into place.
template <class Operation, class Op>
auto write_divided(Coordinator& coordinator, const Op& op, std::span<const PassInput> inputs,
                   const Writing& writing, const PassOptions& wanted) {
  const std::vector<Target> known = known_targets(writing.targets, writing.made);
  Ranks* const ranks = coordinator.ranks();
  CheckpointFile file(wanted.checkpoint, ranks);
  const std::array questions{operator_question(Operation::finder(op))};
  const auto saved = file.begin(inputs, questions, known);
  const bool joins = ranks != nullptr && !ranks->is_first();
  OutputFiles files(inputs, known, writing.made, joins ? Purpose::join : writing.purpose,
                    file.outputs());
  OutputJob<Operation, Op> job(op, coordinator, writing.record_bytes, inputs, files, file);
  Written<typename OutputJob<Operation, Op>::Value> written;
  Stats& stats = written.stats;
  stats =
      run_divided(job, inputs, job.partition(), without_keep_partial(wanted), file, saved, ranks);
  PartFile whole = file.empty();
  job.add_to(whole);
  try {
    written.value = job.take();
  } catch (const Error& error) {
    if (!file.is_wanted()) throw;
    throw with_kept_files(error, wanted.checkpoint, files.kept_names());
  }
  written.appended = appended_to(files);  // nothing may fail once the files are in place
  do_as_first(ranks, [&] {
    files.commit(stats, [&] {
      if (file.is_wanted()) file.save_whole(std::move(whole), files.saved(true), stats);
    });
  });
  return written;
}

/// Sends the inputs through an Operation that writes to the targets.
template <class Operation, class Op>
auto write_all(Coordinator& coordinator, const Op& op, std::span<const PassInput> inputs,
               const Writing& writing, const PassOptions& wanted) {
  if (is_divided(coordinator, wanted)) {
    if constexpr (SavesParts<Operation, Op>) {
      return or_fail_together(coordinator.ranks(), [&] {
        return write_divided<Operation>(coordinator, op, inputs, writing, wanted);
      });
    } else {
      throw is_not_divided(coordinator.ranks(), Operation::is_merged_in_order);
    }
  }
  OutputFiles files(inputs, known_targets(writing.targets, writing.made), writing.made,
                    writing.purpose);
  Reservation pass = begin_pass(coordinator);
  auto operation =
      operation_for<Operation>(op, coordinator, writing.record_bytes, writing.targets.size());
  begin(operation, inputs);
  Written<typename Operation::Value> written;
  Stats& stats = written.stats;
  stats =
      run_pass(coordinator, pass, inputs, operation, without_keep_partial(wanted), files.outputs());
  if constexpr (requires { operation.take(); }) written.value = operation.take();
  written.appended = appended_to(files);  // nothing may fail once the files are in place
  files.commit(stats);
  return written;
}

/// The same for the targets of an operator with an Output.
template <class Operation, class Op, std::size_t count>
auto write_files(Coordinator& coordinator, const Op& op, const std::array<PassInput, count>& inputs,
                 const TargetsOf<Op>& targets, const PassOptions& wanted,
                 Purpose purpose = Purpose::write) {
  const auto made = made_by(op, inputs);
  return write_all<Operation>(coordinator, op, inputs,
                              {all_of(targets), made, widest_record(inputs, made), purpose},
                              wanted);
}

/// Like write_files(), for an operation without findings. Returns the number of records written.
template <class Operation, class Op, std::size_t count>
Result<std::uint64_t> written_by(Coordinator& coordinator, const Op& op,
                                 const std::array<PassInput, count>& inputs,
                                 const TargetsOf<Op>& targets, const PassOptions& wanted) {
  Stats stats = write_files<Operation>(coordinator, op, inputs, targets, wanted).stats;
  const std::uint64_t records = stats.outcome.records;
  return {records, std::move(stats)};
}

}  // namespace ooc::detail
