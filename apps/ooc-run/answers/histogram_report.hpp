#pragma once

#include <ooc/histogram.hpp>
#include <ooc/weighted_histogram.hpp>
#include <optional>
#include <string>

#include "cli/interrupt.hpp"
#include "draw/histogram_plot.hpp"
#include "draw/picture_file.hpp"
#include "request/picture_style.hpp"
#include "request/run_settings.hpp"
#include "result/report.hpp"

namespace ooc_run {

/// Returns a histogram as JSON, with the rule for its bins if there is one.
Json describe_histogram(const ooc::Histogram& histogram, const ooc::HistogramOptions& options);

/// Throws Error(interrupted) if a pass was stopped before it counted anything.
void require_counts(const ooc::Histogram& histogram, const ooc::Stats& stats);

/// Adds a note if nearly all values are in one bin, with options that would show more: not for
/// types of one byte, which have too few values. Adds a note if bins of equal width hold different
/// numbers of integers, which looks like a comb, with bins that do not. Neither is for --edges and
/// --log-bins.
void note_bins(const ooc::Histogram& histogram, const ooc::HistogramOptions& options,
               ooc::ElementType type, Outcome& outcome);

/// The pictures of a histogram: on the terminal, for --plot and for --report. Call its functions in
/// the order of their declaration.
class HistogramPicture {
 public:
  /// All arguments must outlive the picture.
  HistogramPicture(const SideFiles& files, const ooc::HistogramOptions& options,
                   const PictureStyle& style);

  /// Call it before the run. Throws Error(output) if the file of --plot cannot be written.
  void begin();

  /// Returns the bars for the terminal. Empty if there are no bins.
  std::string bars(const ooc::Histogram& histogram) const;
  std::string bars(const ooc::WeightedHistogram& found) const;  // of the sums

  /// Returns the figure for the page of --report. Empty without --report.
  std::string figure(const ooc::Histogram& histogram) const;
  /// The same of the sums. Empty also if they have no bars.
  std::string figure(const ooc::WeightedHistogram& found) const;

  /// Writes the file of --plot. A failure is added to the outcome.
  void write(const ooc::Histogram& histogram, const std::string& title, const Interrupt& interrupt,
             Outcome& outcome);
  /// The same of the sums. Adds a failure instead if they have no bars.
  void write(const ooc::WeightedHistogram& found, const std::string& title,
             const Interrupt& interrupt, Outcome& outcome);

 private:
  HistogramPlot plot(const std::string& title) const;

  const SideFiles& files_;
  const ooc::HistogramOptions& options_;
  const PictureStyle& style_;
  std::optional<PictureFile> file_;
};

}  // namespace ooc_run
