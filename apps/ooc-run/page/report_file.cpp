#include "page/report_file.hpp"

#include <fmt/core.h>

#include <span>

namespace ooc_run {
ReportFile::ReportFile(const std::filesystem::path& path, bool replace) : file_(path, 0, replace) {}

std::string ReportFile::commit(const RunPage& page, const Ceilings& ceilings) {
  const std::string html = draw_page(page, record_, ceilings);
  file_.write(0, std::as_bytes(std::span(html)));
  file_.commit();
  return fmt::format("wrote {}, a report of the run", file_.path().string());
}

}  // namespace ooc_run
