#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/io/source.hpp>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace ooc_run {

/// What a user wants to see.
struct OutputSettings {
  bool json = false;
  bool quiet = false;
  ProgressMode progress = ProgressMode::automatic;
};

OutputSettings read_output_settings(const Arguments& arguments);

/// What a user wants of a run over a dataset.
struct RunSettings {
  ooc::Format format;
  ooc::Options options;
  std::optional<ooc::DeviceKind> device;  // empty: the GPU if usable
  int ordinal = 0;
  OutputSettings output;
};

/// Throws Error(usage). Nothing has been opened by then.
RunSettings read_run_settings(const Arguments& arguments);

/// Opens the files as one dataset. Throws Error.
ooc::Source open_source(const Arguments& arguments, const RunSettings& settings);

/// The device that computes, and why it is this one if the choice was ours.
struct DeviceChoice {
  ooc::DeviceKind kind;
  std::string reason;
  bool fallback;  // a GPU was hoped for
};

/// A device and a coordinator for one run, which shows its progress and can be interrupted.
class Session {
 public:
  /// `passes`: over the source, for the progress. Throws Error(device).
  Session(const RunSettings& settings, const Interrupt& interrupt, std::size_t passes);

  ooc::Coordinator& coordinator() noexcept { return coordinator_; }

  /// A result as JSON or as text, with what is to be said about the run.
  Outcome report(std::string_view command, const ooc::Source& source, const ooc::Stats& stats,
                 Json result, const std::string& text);

 private:
  const RunSettings& settings_;
  DeviceChoice device_;
  ProgressMeter meter_;
  ooc::Coordinator coordinator_;
};

}  // namespace ooc_run
