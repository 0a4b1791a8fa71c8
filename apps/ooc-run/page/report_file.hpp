#pragma once

#include <filesystem>
#include <ooc/detail/file/output_file.hpp>
#include <string>

#include "page/run_page.hpp"
#include "rates/ceilings.hpp"
#include "timeline/run_record.hpp"

namespace ooc_run {

/// The file of --report.
class ReportFile {
 public:
  /// To be called before the run. Throws Error(output) if the file cannot be created.
  ReportFile(const std::filesystem::path& path, bool replace);

  /// Returns the record that collects the events of the run.
  RunRecord& record() noexcept { return record_; }

  /// Writes the page; to be called once, after the run. Returns a message for the user. Throws
  /// Error(output).
  std::string commit(const RunPage& page, const Ceilings& ceilings);

 private:
  ooc::detail::OutputFile file_;
  RunRecord record_;
};

}  // namespace ooc_run
