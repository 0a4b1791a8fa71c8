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

/// Settings of --report.
struct ReportSettings {
  std::filesystem::path path;
  bool replace = false;
};

/// Empty without --report. Throws Error(usage) if the file does not end in .html or .htm, or if the
/// command reads or writes it itself.
std::optional<ReportSettings> read_report_settings(const Arguments& arguments);

/// The file of --report.
class ReportFile {
 public:
  /// To be called before the run. Throws Error(output) if the file cannot be created.
  explicit ReportFile(const ReportSettings& settings);

  /// Returns the record that collects the events of the run.
  RunRecord& record() noexcept { return record_; }

  /// Writes the page; to be called once, after the run. Returns a message for the user. Throws
  /// Error(output).
  std::string commit(const RunPage& page, const Ceilings& ceilings);

 private:
  ooc::OutputFile file_;
  RunRecord record_;
};

}  // namespace ooc_run
