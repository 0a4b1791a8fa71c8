#pragma once

#include <filesystem>
#include <ooc/io/output_file.hpp>
#include <optional>
#include <string>

#include "cli/arguments.hpp"
#include "page/run_page.hpp"
#include "rates/ceilings.hpp"
#include "timeline/run_record.hpp"

namespace ooc_run {

/// What a user wants of a page about a run.
struct ReportSettings {
  std::filesystem::path path;
  bool replace = false;
};

/// Empty without --report. Throws Error(usage) for a file that is no .html, and for one that the
/// command reads or writes itself.
std::optional<ReportSettings> read_report_settings(const Arguments& arguments);

/// The file of --report.
class ReportFile {
 public:
  /// Before the run. Throws Error(output) if there can be no such file.
  explicit ReportFile(const ReportSettings& settings);

  /// Of what the run does.
  RunRecord& record() noexcept { return record_; }

  /// After the run, once: writes the page. Returns what is to be said about it. Throws
  /// Error(output).
  std::string commit(const RunPage& page, const Ceilings& ceilings);

 private:
  ooc::OutputFile file_;
  RunRecord record_;
};

}  // namespace ooc_run
