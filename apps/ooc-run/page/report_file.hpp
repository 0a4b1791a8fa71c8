#pragma once

#include <filesystem>
#include <ooc/io/output_file.hpp>
#include <string>

#include "page/run_page.hpp"
#include "rates/ceilings.hpp"
#include "timeline/run_record.hpp"

namespace ooc_run {

/// The file of --report.
class ReportFile {
 public:
  /// Before the run. Throws Error(output) if there can be no such file.
  ReportFile(const std::filesystem::path& path, bool replace);

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
