#pragma once

#include <ooc/kernels/histogram.hpp>
#include <optional>
#include <string>

#include "cli/arguments.hpp"
#include "cli/interrupt.hpp"
#include "commands/commands.hpp"
#include "draw/histogram_plot.hpp"
#include "draw/picture_file.hpp"
#include "result/report.hpp"

namespace ooc_run {

/// For programs.
Json describe_histogram(const ooc::Histogram& histogram);

/// For people, as --log-scale says. Nothing if there are no bins.
std::string draw(const ooc::Histogram& histogram, const Arguments& arguments);

/// Throws Error(interrupted) if a pass was stopped too early to show anything.
void require_counts(const ooc::Histogram& histogram, const ooc::Stats& stats);

/// Notes that nearly all values lie in one bin of those that were asked for, and what would show
/// more. Bytes have too few values for that.
void note_crowded_bin(const ooc::Histogram& histogram, const ooc::HistogramOptions& options,
                      ooc::ElementType type, Outcome& outcome);

/// The picture of a histogram, for --plot and --report. It is made in the order of its functions.
class HistogramPicture {
 public:
  /// Throws Error(usage).
  explicit HistogramPicture(const Arguments& arguments);

  /// Before the run: throws Error(output) if there can be none.
  void begin();

  /// For the page of --report; empty if there is none.
  std::string figure(const ooc::Histogram& histogram) const;

  /// Once the outcome is there.
  void write(const ooc::Histogram& histogram, const std::string& title, const Interrupt& interrupt,
             Outcome& outcome);

 private:
  HistogramPlot plot(std::string title) const;

  const Arguments& arguments_;
  std::optional<std::filesystem::path> path_;
  std::optional<PictureFile> file_;
};

}  // namespace ooc_run
