#pragma once

#include <ooc/collect.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/detail/file/file_lock.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/detail/parts/resumable_job.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/error.hpp>
#include <ooc/ranks.hpp>
#include <ooc/stats.hpp>
#include <ooc/target.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ooc::detail {

/// An output of a job, as its checkpoint knows it.
struct SavedOutput {
  KeptFile file{};  // beside the output
  /// Identity of the complete file, by which it is recognised after it has been moved.
  std::optional<FileIdentity> whole{};
};

/// The file of a Checkpoint, for a job of one pass or of several. If several ranks share the job,
/// each has a file of its own in a directory, and rank 0 reads those of an earlier run.
class OOC_API CheckpointFile {
 public:
  /// Reads the file if it exists, and locks it, so that no other run uses it. Throws Error as
  /// read_part_file(), `input` if it is not known whether it exists, and `usage` if another run
  /// uses it. `ranks`: all, or null. A job of ranks may have no checkpoint.
  explicit CheckpointFile(const Checkpoint& wanted, Ranks* ranks = nullptr);

  /// Keeps what a complete pass of the job has found, beside what is kept already, for the passes
  /// after it.
  void keep(std::vector<std::byte> found);

  /// Returns what an earlier run has kept: the findings of complete passes, in their order.
  std::span<const std::vector<std::byte>> kept() const;

  /// Begins a pass of the job. On rank 0, returns the part files that an earlier run has saved:
  /// none if it had no findings, several if it had several ranks. Other ranks wait until rank 0
  /// calls start_others(). Throws Error: `usage` if the file is of another job, or for inputs that
  /// have no checkpoints; `input_changed` if the data have changed since, or are others on another
  /// rank; `input`.
  std::vector<const PartFile*> begin(std::span<const PassInput> inputs,
                                     std::span<const OperatorQuestion> operators,
                                     std::span<const Target> targets = {});

  /// Lets other ranks begin the pass, with the outputs of this one.
  void start_others();

  /// Returns the outputs of the pass, one for each target: those of an earlier run, or new ones.
  std::span<const SavedOutput> outputs() const noexcept { return outputs_; }

  /// Sets the outputs that the next save() records.
  void set_outputs(std::vector<SavedOutput> outputs);

  /// Returns a file for the pass without parts. Add the parts and pass it to save().
  PartFile empty() const;

  /// True if there is a file to save to.
  bool is_wanted() const noexcept { return !path_.empty(); }

  /// Replaces the file. Throws Error(output), and `usage` if another run has begun to use it.
  void save(PartFile found);

  /// Removes the files of an earlier run, whose findings were saved here.
  void remove_others() const noexcept;

  /// Like save(), when all outputs are complete and about to be moved into place. If it fails, the
  /// statistics get a remark, or it throws if there are several outputs.
  void save_whole(PartFile found, std::vector<SavedOutput> outputs, Stats& stats);

  /// Ends the pass after the job has taken its findings. The next pass begins without any.
  void end();

 private:
  struct Saved {
    std::filesystem::path path;
    PartFile file;
  };

  void set_about();
  void read(const std::filesystem::path& path);
  void read_directory(const std::filesystem::path& directory);
  void share_kept();
  bool is_about_this_pass(const Saved& saved) const;
  void require_this_job(const Saved& saved) const;
  void begin_with_ranks(std::span<const Target> targets);
  std::vector<SavedOutput> agreed_outputs(std::span<const Target> targets) const;

  std::filesystem::path path_;
  Ranks* ranks_;
  std::vector<Saved> saved_{};                   // by an earlier run
  std::vector<std::filesystem::path> others_{};  // of all ranks of an earlier run
  PartFile pass_;                                // without parts
  std::vector<SavedOutput> outputs_{};
  std::vector<FileLock> locks_{};  // of the files of an earlier run
  FileLock lock_{};                // of that of this run
  bool is_new_ = false;            // no run has made the file yet
};

/// Adds the remark that the file could not be written, unless it is there already.
OOC_API void add_unsaved_remark(const Error& error, Stats& stats);

/// Returns the files of a Checkpoint that are there: one, or those of all ranks if it is a
/// directory. Throws Error(input).
OOC_API std::vector<std::filesystem::path> files_of(const Checkpoint& checkpoint);

}  // namespace ooc::detail
