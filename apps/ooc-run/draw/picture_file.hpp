#pragma once

#include <filesystem>
#include <functional>
#include <ooc/detail/file/output_file.hpp>
#include <string>
#include <string_view>

#include "cli/interrupt.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

/// The file of --plot: SVG or PNG, according to its ending.
class PictureFile {
 public:
  /// To be called before the run. Throws Error(output) if the picture cannot be drawn or written.
  PictureFile(const std::filesystem::path& path, bool replace);

  /// Writes the picture, given as SVG; to be called once, after the run. `what`: its subject.
  /// Returns a message for the user. Throws Error(output).
  std::string commit(const std::string& svg, std::string_view what);

  const std::filesystem::path& path() const noexcept { return file_.path(); }

 private:
  ooc::detail::OutputFile file_;
};

/// Writes the SVG document returned by `draw` and adds a note to `outcome`. `what`: the subject of
/// the picture, for the note. After an interrupted run, writes nothing and leaves an existing file
/// unchanged. If the picture cannot be written, adds a failure to `outcome`, whose document stays.
void write_plot(PictureFile& file, std::string_view what, const std::function<std::string()>& draw,
                const Interrupt& interrupt, Outcome& outcome);

}  // namespace ooc_run
