#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/io/source.hpp>
#include <span>
#include <string>
#include <string_view>

#include "cli/interrupt.hpp"
#include "page/report_file.hpp"
#include "request/run_settings.hpp"
#include "result/outcome.hpp"
#include "result/report.hpp"
#include "run/device_choice.hpp"
#include "run/progress.hpp"
#include "run/stall_watch.hpp"
#include "timeline/trace.hpp"

namespace ooc_run {

/// Opens the files as one dataset, whatever they hold. Throws Error.
ooc::Source open_source(std::span<const std::string> files, const RunSettings& settings);

/// The same for commands that compute with the numbers in it: throws also if there are none (see
/// require_numbers).
ooc::Source open_numbers(std::span<const std::string> files, const RunSettings& settings);
ooc::Source open_numbers(const RunSettings& settings);  // all files of the settings

/// What a command has to say about its input and its result, to programs and to people.
struct Report {
  std::string_view command;
  Json input{}, result{};
  std::string heading{};
  std::string text{};              // whole lines
  std::string figure{};            // of the result, for a page: HTML
  bool writes = false;             // the run has stages that bring back and write
  std::optional<Workload> work{};  // where it is another than that of the passes
};

/// What --verify has come to. Of an answer that is wrong there is nothing to report.
struct Verified {
  std::optional<double> seconds{};      // that it took; empty: not verified
  std::optional<ooc::Error> why_not{};  // interrupted, or no memory, after the answer was there
};

/// What a fold has found, with what is to be said about it: whether it is verified, and which part
/// of the input it covers.
Json answer(Json result, const ooc::Stats& stats, const Verified& verified);

/// A device and a coordinator for one run, which shows its progress and can be interrupted.
class Session {
 public:
  /// `checks`: passes that follow those of the task, for the progress. Throws Error(device).
  Session(const RunSettings& settings, const Interrupt& interrupt, const Task& task,
          std::size_t checks = 0);

  /// Of a run that failed, the timeline is written here: it may tell why.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  ooc::Coordinator& coordinator() noexcept { return coordinator_; }

  /// What each pass of the run is to be given.
  const ooc::PassOptions& pass() const noexcept { return pass_; }

  const DeviceChoice& device() const noexcept { return device_; }

  /// Prints a warning that concerns the meaning of the answer, before the run and even with
  /// --quiet. It is in the document too. Does nothing if `text` is empty.
  void warn(std::string text);

  /// The run has ended; what is read from now on is for a check of its result.
  void end_run();

  /// A report as JSON or as text, with what is to be said about the run, which has ended: its
  /// timeline is written, and a page about it.
  Outcome report(const Report& report, const ooc::Stats& stats);

  /// Has `check` verify an answer, if --verify asked for it; but not one of a part of the input:
  /// who interrupts a run does not want another. Throws what `check` does, unless that was
  /// interrupted or had no memory or threads.
  Verified verify(const ooc::Stats& stats, const std::function<void()>& check);

  /// The same for what a fold has found in a dataset.
  Outcome report(std::string_view command, const ooc::Source& source, const ooc::Stats& stats,
                 Json result, const std::string& text, const Verified& verified,
                 const std::string& figure = {});

  /// How long so much work is predicted to take here.
  std::optional<Prediction> predict(const Workload& work);

 private:
  Ceilings ceilings();
  ooc::PassOptions pass_options();
  void show(const ooc::Progress& progress);
  void write_trace(Outcome& outcome);
  void write_report(Outcome& outcome, const RunPage& page, const Ceilings& ceilings);

  const RunSettings& settings_;
  const Interrupt& interrupt_;
  std::unique_ptr<Trace> trace_;             // may be null
  std::unique_ptr<ReportFile> report_file_;  // may be null
  Task task_;
  DeviceChoice device_;
  std::vector<std::string> warnings_;
  ProgressMeter meter_;
  StageLoad stage_load_;
  bool has_ended_ = false;
  StallWatch stall_watch_;
  ooc::Coordinator coordinator_;
  ooc::PassOptions pass_;
};

}  // namespace ooc_run
