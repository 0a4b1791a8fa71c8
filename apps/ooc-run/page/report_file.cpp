#include "page/report_file.hpp"

#include <span>

#include "cli/written.hpp"

namespace ooc_run {
ReportFile::ReportFile(const std::filesystem::path& path, bool replace) : file_(path, 0, replace) {}

std::string ReportFile::commit(const RunPage& page, const Ceilings& ceilings) {
  const std::string html = draw_page(page, record_, ceilings);
  file_.write(0, std::as_bytes(std::span(html)));
  file_.commit();
  return describe_written(file_, "a report of the run");
}

}  // namespace ooc_run
