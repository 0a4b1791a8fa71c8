#include "page/report_file.hpp"

#include <fmt/core.h>

#include <ooc/io/element_type.hpp>
#include <ooc/io/error.hpp>
#include <span>

#include "cli/output_file_options.hpp"

namespace ooc_run {
namespace {

std::filesystem::path parse_page(const std::string& text) {
  const std::filesystem::path path = parse_output(text);
  const std::string ending = ooc::ending_of(path);
  if (ending == ".html" || ending == ".htm") return path;
  const std::string other = std::filesystem::path(path).replace_extension(".html").string();
  throw ooc::Error(ooc::ErrorKind::usage, "a report is an HTML file",
                   {.hint = "--report " + ooc::shell_word(other) + ", which every browser shows"});
}

}  // namespace

std::optional<ReportSettings> read_report_settings(const Arguments& arguments) {
  const auto path = arguments.get("report", parse_page);
  if (!path) return {};
  refuse_file_in_use(arguments, "report", *path);
  return ReportSettings{*path, arguments.has("force")};
}

ReportFile::ReportFile(const ReportSettings& settings)
    : file_(settings.path, 0, settings.replace) {}

std::string ReportFile::commit(const RunPage& page, const Ceilings& ceilings) {
  const std::string html = draw_page(page, record_, ceilings);
  file_.write(0, std::as_bytes(std::span(html)));
  file_.commit();
  return fmt::format("wrote {}, a report of the run", file_.path().string());
}

}  // namespace ooc_run
