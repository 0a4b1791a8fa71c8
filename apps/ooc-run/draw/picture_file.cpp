#include "draw/picture_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ooc/dtype.hpp>
#include <ooc/error.hpp>
#include <span>

#include "cli/failure.hpp"
#include "cli/written.hpp"
#include "draw/rsvg.hpp"
#include "draw/svg.hpp"

namespace ooc_run {
namespace {

bool is_png(const std::filesystem::path& path) {
  return ooc::ending_of(path) == ".png";
}

}  // namespace

PictureFile::PictureFile(const std::filesystem::path& path, bool replace)
    : file_(path, 0, replace) {
  if (is_png(path)) png_of(Svg(1, 1, {}).document(), path);  // fail now if PNG cannot be made
}

std::string PictureFile::commit(const std::string& svg, std::string_view what) {
  const std::string bytes = is_png(path()) ? png_of(svg, path()) : svg;
  file_.write(0, std::as_bytes(std::span(bytes)));
  file_.commit();
  return describe_written(file_, fmt::format("a picture of the {}", what));
}

void write_plot(PictureFile& file, std::string_view what, const std::function<std::string()>& draw,
                const Interrupt& interrupt, Outcome& outcome) {
  const bool check_interrupted = std::ranges::find(outcome.failures, ooc::ErrorKind::interrupted,
                                                   &ooc::Error::kind) != outcome.failures.end();
  if (outcome.partial || check_interrupted) {
    outcome.notes.push_back(fmt::format("interrupted, so {} is not written", file.path().string()));
    return;
  }
  interrupt.allow_more_time();
  try {
    outcome.notes.push_back(file.commit(draw(), what));
  } catch (const std::exception&) {
    outcome.fail(current_error());
  }
}

}  // namespace ooc_run
