#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/source.hpp>
#include <span>
#include <string>
#include <string_view>

#include "cli/interrupt.hpp"
#include "page/report_file.hpp"
#include "request/run_settings.hpp"
#include "result/outcome.hpp"
#include "result/report.hpp"
#include "run/device_choice.hpp"
#include "run/inputs.hpp"
#include "run/progress.hpp"
#include "timeline/trace.hpp"

namespace ooc_run {

/// A command's description of its input and its result, as JSON and as text.
struct Report {
  std::string_view command;
  Json input{}, result{};
  std::string heading{};
  std::string text{};              // whole lines
  std::string figure{};            // picture of the result for --report: HTML
  bool writes = false;             // the run has the stages d2h and write
  std::optional<Workload> work{};  // if it differs from that of the passes
};

/// The outcome of --verify. It does not include wrong results: the check throws for those, or
/// reports them itself.
struct Verified {
  std::optional<double> seconds{};      // duration; empty: not verified
  std::optional<ooc::Error> why_not{};  // the check was interrupted or had no memory
};

/// Returns the result of a fold, with keys that tell whether it is verified and which part of the
/// input it covers.
Json answer(Json result, const ooc::Stats& stats, const Verified& verified);

/// One run: its device and coordinator, progress, interruption, and side files.
class Session {
 public:
  /// `checks`: passes after those of the task, included in the progress. Throws Error(device).
  Session(const RunSettings& settings, const Interrupt& interrupt, const Task& task,
          std::size_t checks = 0);

  /// Writes the timeline of a failed run, which may show the cause. Does not wait for a device that
  /// is still starting.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  ooc::Coordinator& coordinator() noexcept { return *coordinator_; }

  /// Returns the options for each pass of the run.
  const ooc::PassOptions& pass() const noexcept { return pass_; }

  const DeviceChoice& device() const noexcept { return device_; }

  /// Prints a warning about the meaning of the result, even with --quiet, and adds it to the JSON
  /// document. Call it before report(). Does nothing if `text` is empty.
  void warn(std::string text);

  /// Ends the run. Later reads belong to a check of its result.
  void end_run();

  /// Returns a report of the finished run, as JSON or as text, and writes the files of --trace and
  /// --report.
  Outcome report(Report report, const ooc::Stats& stats);

  /// Calls `check` to verify a result if --verify is set. Does nothing for a partial result: a user
  /// who interrupted the run does not want to wait for a check. Throws what `check` throws, unless
  /// it was interrupted or had no memory or threads.
  Verified verify(const ooc::Stats& stats, const std::function<void()>& check);

  /// The same for a file that `command` has written, and which stays if it is wrong: the error says
  /// that it is there.
  Verified verify_file(std::string_view command, const std::filesystem::path& file,
                       const ooc::Stats& stats, const std::function<void()>& check);

  /// Like report() above, for the result of a fold of one source, or of two side by side.
  Outcome report(std::string_view command, std::span<const ooc::Source> sources,
                 const ooc::Stats& stats, Json result, const std::string& text,
                 const Verified& verified, const std::string& figure = {});
  Outcome report(std::string_view command, const ooc::Source& source, const ooc::Stats& stats,
                 Json result, const std::string& text, const Verified& verified,
                 const std::string& figure = {}) {
    return report(command, {&source, 1}, stats, std::move(result), text, verified, figure);
  }

  /// Like the first report() above, for files that the run has written from one source, and which
  /// `written` names. Adds the description of the source.
  Outcome report_files(Report report, const ooc::Source& source, const std::string& written,
                       const ooc::Stats& stats, const Verified& verified = {});

  /// Returns "several ranks" or "several devices" if these share the run; see sharers_of().
  std::string_view sharers() const;

  /// Predicts the time of some work on this device. Empty if the run is shared.
  std::optional<Prediction> predict(const Workload& work);

 private:
  Ceilings ceilings();
  ooc::PassOptions pass_options();
  void show(const ooc::Progress& progress);
  void write_trace(Outcome& outcome);
  void write_report(Outcome& outcome, const RunPage& page, const Ceilings& ceilings);

  const RunSettings& settings_;
  const Interrupt& interrupt_;
  // Freed for the report: a run that has written its file must not fail for want of memory then.
  std::unique_ptr<std::byte[]> room_for_report_;
  std::unique_ptr<Trace> trace_;             // may be null
  std::unique_ptr<ReportFile> report_file_;  // may be null
  Task task_;
  DeviceChoice device_;
  std::vector<std::string> warnings_;
  ProgressMeter meter_;
  StageLoad stage_load_;
  bool has_ended_ = false;
  std::unique_ptr<ooc::Coordinator> coordinator_;
  ooc::PassOptions pass_;
};

}  // namespace ooc_run
