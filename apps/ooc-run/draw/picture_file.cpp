#include "draw/picture_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ooc/io/element_type.hpp>
#include <ooc/io/error.hpp>
#include <span>

#include "cli/failure.hpp"
#include "cli/output_file_options.hpp"
#include "draw/rsvg.hpp"
#include "draw/svg.hpp"

namespace ooc_run {
namespace {

bool is_png(const std::filesystem::path& path) {
  return ooc::ending_of(path) == ".png";
}

std::filesystem::path parse_picture(const std::string& text) {
  const std::filesystem::path path = parse_output(text);
  if (std::ranges::find(picture_endings, ooc::ending_of(path)) != picture_endings.end()) {
    return path;
  }
  const std::string other = std::filesystem::path(path).replace_extension(".svg").string();
  throw ooc::Error(ooc::ErrorKind::usage, "only SVG and PNG can be drawn",
                   {.hint = "--plot " + ooc::shell_word(other) + ", which every browser shows"});
}

}  // namespace

std::optional<std::filesystem::path> PictureFile::read_path(const Arguments& arguments) {
  const auto path = arguments.get("plot", parse_picture);
  if (path) refuse_file_in_use(arguments, "plot", *path);
  return path;
}

PictureFile::PictureFile(const std::filesystem::path& path, bool replace)
    : file_(path, 0, replace) {
  if (is_png(path)) png_of(Svg(1, 1, {}).document(), path);  // fail now if PNG cannot be made
}

void PictureFile::commit(const std::string& svg) {
  const std::string bytes = is_png(path()) ? png_of(svg, path()) : svg;
  file_.write(0, std::as_bytes(std::span(bytes)));
  file_.commit();
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
    file.commit(draw());
    outcome.notes.push_back(
        fmt::format("wrote {}, a picture of the {}", file.path().string(), what));
  } catch (const std::exception&) {
    outcome.fail(current_error());
  }
}

}  // namespace ooc_run
