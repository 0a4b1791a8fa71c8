#include <algorithm>
#include <array>
#include <filesystem>
#include <ooc/detail/base/compressed_name.hpp>
#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/dtype.hpp>
#include <ooc/error.hpp>
#include <ooc/histogram.hpp>
#include <ooc/weighted_histogram.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "answers/bin_table.hpp"
#include "answers/histogram_report.hpp"
#include "answers/weights_report.hpp"
#include "commands/commands.hpp"
#include "commands/shard.hpp"
#include "dataset/type_doubt.hpp"
#include "parts/questions.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {

namespace {

/// Returns the element type that the name of a file says.
std::optional<ooc::ElementType> type_in_name(const std::string& file) {
  return ooc::type_of_ending(ooc::detail::ending_of_data(ooc::detail::selector_of(file).path));
}

/// True if a file has the type of --dtype: a raw one whose name says no type.
bool takes_dtype(const std::string& file) {
  constexpr std::array<std::string_view, 25> described{
      ".npy", ".npz",  ".safetensors", ".zarr",  ".h5",    ".hdf5",  ".nc",        ".fits",  ".fit",
      ".fts", ".fbin", ".ibin",        ".u8bin", ".i8bin", ".fvecs", ".ivecs",     ".bvecs", ".nii",
      ".wav", ".nrrd", ".nhdr",        ".mha",   ".mhd",   ".hdr",   ".sigmf-meta"};
  const auto [path, array] = ooc::detail::selector_of(file);
  return !type_in_name(file) && array.empty() &&
         std::ranges::find(described, ooc::detail::ending_of_data(path)) == described.end();
}

/// Returns the settings that one of two files is read with. Both may have different types, so
/// --dtype is for those whose names say none. Its byte order is also for a raw file that has the
/// same type.
RunSettings settings_for(const std::string& file, const RunSettings& both) {
  RunSettings settings = both;
  settings.files = {file};
  const std::optional<ooc::DType>& type = settings.format.type;
  const bool is_same = type && type_in_name(file) == type->element;
  if (!takes_dtype(file) && !is_same) settings.format.type.reset();
  return settings;
}

/// Throws Error(usage) for data that can be read once, from beginning to end.
void refuse_streams(const HistogramRequest& request) {
  for (const std::string& file : {request.run.files.front(), *request.weights}) {
    if (!is_stream(file)) continue;
    throw ooc::Error(ooc::ErrorKind::usage, file + ": with --weights, no file may be a stream",
                     {.why = "values and weights are read side by side, each from any place",
                      .hint = "save it to a file"});
  }
}

Outcome run_weighted(const HistogramRequest& request, const Interrupt& interrupt) {
  refuse_streams(request);
  // Values have the type of --dtype unless it is that of the weights.
  const RunSettings settings = takes_dtype(*request.weights)
                                   ? settings_for(request.run.files.front(), request.run)
                                   : request.run;
  const ooc::HistogramOptions& options = request.bins;
  HistogramPicture picture(settings.side_files, options, request.picture);
  const RunSettings for_weights = settings_for(*request.weights, request.run);
  std::array sources{open_numbers(settings), open_numbers(for_weights)};
  const ooc::Source &source = sources[0], &weights = sources[1];
  for (const ooc::Source& each : sources) {
    if (!each.is_produced()) continue;
    throw ooc::Error(ooc::ErrorKind::usage,
                     each.name() + ": with --weights, no file may be read as a stream",
                     {.why = "values and weights are read side by side, each from any place",
                      .hint = "decompress it"});
  }
  if (request.shard) {
    RunSettings both = settings;
    both.files.push_back(*request.weights);
    return run_shard(both, *request.shard, *weights_question(options), sources, interrupt);
  }
  if (settings.explain) {
    const Explanation explanation = explain_weighted_histogram(settings, sources, options);
    return explain("histogram", settings, sources, explanation, remarks_on(explanation, settings));
  }
  picture.begin();
  Session session(settings, interrupt, weighted_histogram_task(sources, options),
                  settings.verify ? 1 : 0);
  session.warn(type_doubt(source, settings.format));
  session.warn(type_doubt(weights, for_weights.format));
  auto [found, stats] =
      ooc::weighted_histogram(session.coordinator(), source, weights, options, session.pass());
  require_counts(found.histogram, stats);
  session.warn(why_not_finite(found));
  const Verified verified = session.verify(stats, [&, &found = found] {
    ooc::verify_weighted_histogram(session.coordinator(), source, weights, options, found,
                                   session.pass());
  });
  Outcome outcome =
      session.report("histogram", sources, stats, describe_weighted(found, options),
                     request.table ? "" : picture.bars(found), verified, picture.figure(found));
  note_bins(found.histogram, options, source.element(), outcome);
  picture.write(found, describe_data(source), interrupt, outcome);
  if (!request.table) return outcome;
  session.warn(describe_partial(sources, stats));
  print_as_table(std::move(found), outcome);
  return outcome;
}

}  // namespace

Outcome run(const HistogramRequest& request, const Interrupt& interrupt) {
  if (request.weights) return run_weighted(request, interrupt);
  if (request.shard) {
    return run_shard(request.run, *request.shard,
                     *summary_question("histogram", std::nullopt, request.bins), interrupt);
  }
  const RunSettings& settings = request.run;
  const ooc::HistogramOptions& options = request.bins;
  HistogramPicture picture(settings.side_files, options, request.picture);
  const ooc::Source source = open_input(settings, interrupt);
  if (settings.explain) {
    const Explanation explanation = explain_histogram(settings, source, options);
    return explain("histogram", settings, source, explanation, remarks_on(explanation, settings));
  }
  picture.begin();
  Session session(settings, interrupt, histogram_task(source, options), settings.verify ? 1 : 0);
  session.warn(type_doubt(source, settings.format));
  auto [histogram, stats] = ooc::histogram(session.coordinator(), source, options, session.pass());
  require_counts(histogram, stats);
  const Verified verified = session.verify(stats, [&, &found = histogram] {
    ooc::verify_histogram(session.coordinator(), source, options, found, session.pass());
  });
  Outcome outcome =
      session.report("histogram", source, stats, describe_histogram(histogram, options),
                     picture.bars(histogram), verified, picture.figure(histogram));
  note_bins(histogram, options, source.element(), outcome);
  picture.write(histogram, describe_data(source), interrupt, outcome);
  if (!request.table) return outcome;
  if (outcome.partial) session.warn(describe_partial({&source, 1}, stats));
  print_as_table(std::move(histogram), *request.table, outcome);
  return outcome;
}

}  // namespace ooc_run
