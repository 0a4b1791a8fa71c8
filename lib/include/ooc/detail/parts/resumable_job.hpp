#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/detail/parts/found.hpp>
#include <ooc/detail/pass/operation.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/stats.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace ooc {

struct PartFile;

namespace detail {

class Blocks;
class CheckpointFile;

/// The operator of a pass, and its settings (see SavableFold).
struct OperatorQuestion {
  std::string_view name;
  std::string settings;
  std::string_view input;  // the type that it reads, as the compiler names it
};

/// A job that runs in passes over sections of its inputs, and resumes where an earlier run was
/// stopped (see Checkpoint).
class OOC_API ResumableJob {
 public:
  virtual ~ResumableJob() = default;

  /// Takes over the findings that an earlier run has saved.
  virtual void load(const PartFile& saved) = 0;

  /// Returns the records that are done.
  virtual std::span<const RecordRange> covers() const = 0;

  /// Discards all findings.
  virtual void clear() = 0;

  /// Runs a pass over a section, and adds its findings. After a stop, they cover the beginning of
  /// the section. With `blocks`, they cover the records that these give out.
  virtual Stats run(std::span<const PassInput> section, const PassOptions& wanted,
                    Blocks* blocks = nullptr) = 0;

  /// Makes the outputs of the passes durable. An error ends the job, because the contents of the
  /// disk are then unknown.
  virtual void make_durable() {}

  /// Returns the names of files that it keeps beside the checkpoint.
  virtual std::vector<std::string> kept_files() const { return {}; }

  /// Adds the findings to a file.
  virtual void add_to(PartFile& file) const = 0;
};

/// Runs a job in passes over sections or, if there are `ranks`, this rank's share of it. If a
/// checkpoint is wanted, saves the findings from time to time, after a stop, and at the end.
/// `partition`: number of records at whose multiples sections begin; `saved`: files of an earlier
/// run. When all ranks are done, each has the findings of all. Throws Error as the passes do, on
/// all ranks; `interrupted` after a stop, unless ranks do without a file and
/// PassOptions::keep_partial is set.
OOC_API Stats run_divided(ResumableJob& job, std::span<const PassInput> inputs,
                          std::size_t partition, const PassOptions& wanted, CheckpointFile& file,
                          std::span<const PartFile* const> saved, Ranks* ranks);

/// Like the function above, with `file` or, if that is null, with a file of its own. Resumes from
/// the findings of these operators that an earlier run has saved there.
OOC_API Stats run_divided(ResumableJob& job, std::span<const PassInput> inputs,
                          std::size_t partition, const PassOptions& wanted,
                          std::span<const OperatorQuestion> operators,
                          const Coordinator& coordinator, CheckpointFile* file);

/// True if a job has a checkpoint, or several ranks.
OOC_API bool is_divided(const Coordinator& coordinator, const PassOptions& wanted);

/// Returns `error` with a note that names the files that keep the results so far.
OOC_API Error with_kept_files(const Error& error, const Checkpoint& checkpoint,
                              std::span<const std::string> names);

/// Returns the error for an operator whose findings cannot be saved.
OOC_API Error has_no_checkpoints(std::string why);

/// Returns the error for an operator that is no SavableFold, of a job with a checkpoint or with
/// `ranks`, which may be null.
OOC_API Error is_not_divided(const Ranks* ranks, bool is_merged_in_order);

/// Throws Error(usage) for an operator that looks at neighbours.
OOC_API void require_no_margin(const Margin& margin);

/// Returns the entry of an operator in a checkpoint.
template <class Op>
OperatorQuestion operator_question(const Op& op) {
  return {Op::partial_name, question_of(op), typeid(typename Op::Input).name()};
}

}  // namespace detail
}  // namespace ooc
