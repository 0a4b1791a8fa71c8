#pragma once

#include <ooc/kernels/histogram.hpp>
#include <optional>
#include <string>

#include "cli/interrupt.hpp"
#include "draw/histogram_plot.hpp"
#include "draw/picture_file.hpp"
#include "request/run_settings.hpp"
#include "result/report.hpp"

namespace ooc_run {

/// For programs.
Json describe_histogram(const ooc::Histogram& histogram);

/// Throws Error(interrupted) if a pass was stopped too early to show anything.
void require_counts(const ooc::Histogram& histogram, const ooc::Stats& stats);

/// Notes that nearly all values lie in one bin of those that were asked for, and what would show
/// more. Bytes have too few values for that.
void note_crowded_bin(const ooc::Histogram& histogram, const ooc::HistogramOptions& options,
                      ooc::ElementType type, Outcome& outcome);

/// The pictures of a histogram: on the terminal, of --plot and of --report. Its functions are
/// called in their order.
class HistogramPicture {
 public:
  /// All arguments must outlive the picture.
  HistogramPicture(const SideFiles& files, const ooc::HistogramOptions& options,
                   bool logarithmic_counts);

  /// Before the run. Throws Error(output) if the file of --plot cannot be written.
  void begin();

  /// Bars for the terminal; empty if there are no bins.
  std::string bars(const ooc::Histogram& histogram) const;

  /// For the page of --report; empty if there is none.
  std::string figure(const ooc::Histogram& histogram) const;

  /// Once the outcome is there.
  void write(const ooc::Histogram& histogram, const std::string& title, const Interrupt& interrupt,
             Outcome& outcome);

 private:
  HistogramPlot plot(std::string title) const;

  const SideFiles& files_;
  const ooc::HistogramOptions& options_;
  bool logarithmic_counts_;
  std::optional<PictureFile> file_;
};

}  // namespace ooc_run
