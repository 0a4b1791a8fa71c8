#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>
#include <ooc/stats.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace ooc::detail {

/// The same records of each of several inputs, as inputs of a pass.
class InputSections {
 public:
  /// `records`: of the whole data, of which `inputs` may be a section. The records of a section are
  /// whole elements.
  InputSections(std::span<const PassInput> inputs, const RecordRange& records);
  InputSections(const InputSections&) = delete;
  InputSections& operator=(const InputSections&) = delete;

  std::span<const PassInput> inputs() const noexcept { return inputs_; }

 private:
  std::vector<Source> sources_;
  std::vector<PassInput> inputs_;
};

/// Divides the inputs of a pass into sections, so that findings can be saved after each of them.
/// The first section has all records, and its pass is stopped when the first save is due: a short
/// run has one pass. Later sections are as long as the rate so far suggests, since a pass that is
/// stopped has read chunks in vain.
class Sections {
 public:
  /// `partition`: records, at whose multiples sections begin. The inputs and the options must
  /// outlive it. Throws Error(usage) for a checksum, for times that are no numbers, and for records
  /// of which a partition is not whole elements.
  Sections(std::span<const PassInput> inputs, std::size_t partition, const PassOptions& wanted);
  Sections(const Sections&) = delete;
  Sections& operator=(const Sections&) = delete;

  /// Continues after an earlier run. Throws Error(bad_input) if that run has covered other records.
  void go_on_after(std::span<const RecordRange> covered);

  /// True if `covered` has all records.
  bool is_done(std::span<const RecordRange> covered) const;

  /// Returns the inputs of the next pass: the first records that are not covered, or none if all
  /// are. They live until the next call.
  std::span<const PassInput> next(std::span<const RecordRange> covered);

  /// Returns the options of that pass.
  const PassOptions& options() const noexcept { return options_; }

  /// Adds the statistics of that pass, which may have been stopped early.
  void add(const Stats& stats);

  /// True if it is time to save the findings.
  bool is_due() const;

  /// Calls both functions, and counts their time. If `save` throws Error(output), the job goes on,
  /// and the statistics have a remark.
  void save(const std::function<void()>& make_durable, const std::function<void()>& save);

  /// Adds time that the job has taken beside its passes.
  void add_seconds(double seconds) { stats_.timing.seconds += seconds; }

  /// Returns the error for a job that the caller has stopped. `kept_files`: files that it keeps
  /// beside the checkpoint.
  Error interrupted(std::span<const std::string> kept_files) const;

  /// Returns the statistics of all sections together.
  const Stats& stats() const noexcept { return stats_; }

 private:
  using Clock = std::chrono::steady_clock;

  double seconds_since_save() const;
  std::uint64_t records_until_save() const;
  void show(Progress progress);

  std::span<const PassInput> inputs_;
  std::size_t partition_;
  const PassOptions& wanted_;
  RecordRange all_{};
  std::optional<InputSections> section_;
  std::stop_source stop_;  // of its pass
  std::optional<std::stop_callback<std::function<void()>>> forward_;
  PassOptions options_;
  Stats stats_{};
  std::uint64_t largest_records_ = 0;  // of a section
  double records_per_second_ = 0;      // of the last one; 0: there was none
  double longest_seconds_ = 0;         // from the last save on, until the pass is stopped
  double patience_ = 1;                // times that, after passes that were stopped too early
  Clock::time_point saved_ = Clock::now();
  std::uint64_t shown_bytes_ = 0;    // by the last report
  std::uint64_t saved_records_ = 0;  // of which the findings are saved
  std::string why_not_saved_{};      // empty: the last time succeeded
};

}  // namespace ooc::detail
