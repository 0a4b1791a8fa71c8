#pragma once

#include <filesystem>
#include <functional>
#include <ooc/io/output_file.hpp>
#include <string>
#include <string_view>

#include "cli/interrupt.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

/// The file that --plot names: SVG, or PNG by its ending.
class PictureFile {
 public:
  /// Before the run: throws Error(output) if there can be no such picture.
  PictureFile(const std::filesystem::path& path, bool replace);

  /// After the run, once: writes the picture, an SVG document. Throws Error(output).
  void commit(const std::string& svg);

  const std::filesystem::path& path() const noexcept { return file_.path(); }

 private:
  ooc::OutputFile file_;
};

/// Once the outcome is there: writes what `draw` makes, an SVG document of `what`, and notes it. Of
/// a run that was interrupted there is no picture, and what it would have replaced stays. One that
/// cannot be written is a failure that does not take the document away.
void write_plot(PictureFile& file, std::string_view what, const std::function<std::string()>& draw,
                const Interrupt& interrupt, Outcome& outcome);

}  // namespace ooc_run
