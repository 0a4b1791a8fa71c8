#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/detail/observe/stats.hpp>
#include <ooc/detail/operators/part_file.hpp>
#include <ooc/detail/pass/checkpoint.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/error.hpp>
#include <ooc/target.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ooc::detail {

/// The operator of a pass, and its settings (see SavableFold).
struct OperatorQuestion {
  std::string_view name;
  std::string settings;
  std::string_view input;  // the type that it reads, as the compiler names it
};

/// An output of a job, as its checkpoint knows it.
struct SavedOutput {
  KeptFile file{};  // beside the output
  /// Its identity when all of it is written, by which it is known after it has been moved.
  std::optional<FileIdentity> whole{};
};

/// The file of a Checkpoint, for a job of one pass or of several.
class OOC_API CheckpointFile {
 public:
  /// Reads the file if it is there. Throws Error as read_part_file(), and `input` if that cannot be
  /// known.
  explicit CheckpointFile(const Checkpoint& wanted);

  /// Keeps the findings of the passes of the job that are complete, for the passes after them.
  void keep(std::span<const std::byte> found);

  /// Returns what an earlier run has kept; empty if no pass was complete.
  std::vector<std::byte> kept() const;

  /// Begins a pass of the job. Returns what an earlier run has saved of it; null if it had found
  /// nothing. Throws Error: `usage` if the file is of another job, or for inputs that have no
  /// checkpoints; `input_changed` if the data have changed since; `input`.
  const PartFile* begin(std::span<const PassInput> inputs,
                        std::span<const OperatorQuestion> operators,
                        std::span<const Target> targets = {});

  /// Returns the outputs of the pass, one for each target: those of an earlier run, or new ones.
  std::span<const SavedOutput> outputs() const noexcept { return outputs_; }

  /// Sets what the next save() says of them.
  void set_outputs(std::vector<SavedOutput> outputs);

  /// Returns a file for the findings of the pass, to be given to save() with its parts.
  PartFile empty() const;

  /// Replaces the file. Throws Error(output).
  void save(PartFile found) const;

  /// The same when all outputs are whole, and are about to be moved into place. If that is not
  /// possible, the statistics have a remark.
  void save_whole(PartFile found, std::vector<SavedOutput> outputs, Stats& stats);

  /// Ends the pass, whose findings the job has now: the next begins anew.
  void end();

 private:
  void set_about();

  std::filesystem::path path_;
  std::string kept_{};             // hexadecimal digits
  std::optional<PartFile> saved_;  // by an earlier run
  PartFile pass_;                  // without parts
  std::vector<SavedOutput> outputs_{};
};

/// Adds the remark that the file could not be written, unless there is the same one.
OOC_API void add_unsaved_remark(const Error& error, Stats& stats);

/// Returns the error for an operator whose findings cannot be saved.
OOC_API Error has_no_checkpoints(std::string why);

/// Returns the reason of an operator that is no SavableFold.
OOC_API std::string why_not_saved(bool is_merged_in_order);

}  // namespace ooc::detail
