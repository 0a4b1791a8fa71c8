#include "bench/bench.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>
#include <optional>

#include "bench/pass.hpp"
#include "bench/plot.hpp"
#include "bench/report.hpp"
#include "bench/run.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "dataset/file_facts.hpp"
#include "draw/picture_file.hpp"
#include "measure/figures.hpp"
#include "rates/ceilings.hpp"
#include "rates/prediction.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

using ooc::detail::KernelKind;

BenchJob job_of(const BenchRequest& request) {
  BenchJob job;
  job.path = request.run.files.front();
  require_local(job.path, "bench");
  job.runs = request.rounds;
  job.sweep = request.sweep;
  job.ordinal = request.run.ordinal();
  return job;
}

MeasuredCeilings ceilings_of(const BenchResult& result) {
  const auto rate = [](const CeilingRows& rows) -> std::optional<double> {
    if (!rows.skipped.empty()) return {};
    return rows.bytes_per_second();
  };
  std::map<std::string, double> kernels;
  for (const KernelKind kind : ooc::detail::all_kernels) {
    kernels.emplace(name_of(kind), result.kernel(kind).bytes_per_second());
  }
  return {.stages = {.disk = rate(result.disk),
                     .page_cache = rate(result.page_cache),
                     .h2d = rate(result.h2d),
                     .d2h = rate(result.d2h),
                     .start_seconds = result.startup.seconds()},
          .kernels = std::move(kernels)};
}

/// Stores the ceilings for the verdicts of other commands. Returns the reason if they were not
/// stored, otherwise an empty text; does not throw.
std::string keep_ceilings(const BenchResult& result, const std::string& path,
                          std::uint64_t file_bytes) {
  constexpr std::uint64_t least_file_bytes = 1'000'000'000;  // shorter passes are too noisy
  if (file_bytes < least_file_bytes) {
    return "the ceilings are not kept: a file of less than 1 GB says too little";
  }
  constexpr std::uint64_t least_warm_bytes = 64 * ooc::detail::MiB;
  if (result.warm_bytes < least_warm_bytes) {
    return "the ceilings are not kept: memory has room for less than 64 MiB of the file";
  }
  try {
    write_ceilings({.file = path, .device = result.device}, ceilings_of(result));
  } catch (const ooc::Error& error) {
    return fmt::format("the ceilings are not kept: {}", error.what());
  }
  return {};
}

/// Predicts the time of reading from stored ceilings: from the disk, then from the page cache.
std::optional<Prediction> predict_reading(const BenchReads& reads, const Ceilings& ceilings) {
  const auto seconds = [](double bytes, std::optional<double> rate) -> std::optional<double> {
    if (bytes == 0) return 0;
    if (!rate) return {};
    return bytes / *rate;
  };
  const auto disk = seconds(reads.from_disk, ceilings.disk);
  const auto cache = seconds(reads.from_page_cache, ceilings.page_cache);
  if (!disk || !cache) return {};
  Prediction prediction{.seconds = *disk + *cache, .unmeasured = {}};
  if (!ceilings.kernel) prediction.unmeasured.emplace_back("kernel");
  return prediction;
}

/// Describes the time of reading. Without a prediction, assumes the typical rate of a disk.
std::string reading_time(const std::optional<Prediction>& prediction, const BenchReads& reads) {
  constexpr double usual_rate = 2e9;
  if (prediction) return fmt::format("{} for reading alone", brief(prediction));
  return fmt::format("{} at {}", format_seconds(reads.bytes() / usual_rate),
                     format_rate(usual_rate));
}

/// Prints how much will be read before measuring starts, since it may take long.
void announce(const BenchJob& job, const BenchReads& reads) {
  const auto prediction = predict_reading(reads, read_ceilings({.file = job.path}));
  print_note(fmt::format("measuring {}{}, about {} to read: {}", format_count(job.runs, "round"),
                         job.sweep ? " and a sweep" : "", format_decimal_bytes(reads.bytes()),
                         reading_time(prediction, reads)));
}

/// Returns the output of --explain.
Outcome explain_job(const RunSettings& settings, const BenchJob& job,
                    const std::string& why_device) {
  require_usable(settings.devices);
  const BenchOutline plan = outline_measurements(job);
  const Ceilings ceilings =
      read_ceilings({.file = job.path,
                     .device = device_name(job.device, settings.ordinal()),
                     .kernel = std::string(name_of(KernelKind::histogram_u1))});
  const auto prediction = predict_reading(plan.reads, ceilings);
  const std::string time = reading_time(prediction, plan.reads);
  const ooc::Source source = part_of_file(job.path, 0, plan.file_bytes);
  std::vector<std::string> reasons{
      "each round does everything once, so that noise affects all alike"};
  if (!why_device.empty()) reasons.push_back(why_device);
  if (!plan.why_no_disk.empty()) reasons.push_back("the disk is left out: " + plan.why_no_disk);
  if (!plan.why_not_cold.empty()) reasons.push_back("no cold passes: " + plan.why_not_cold);
  if (plan.warm_bytes < plan.file_bytes) {
    reasons.emplace_back("warm passes take the part of the file for which memory has room");
  }
  const std::string_view kind = job.device == ooc::DeviceKind::cuda ? "cuda" : "cpu";
  Json json{{"device", kind},
            {"rounds", job.runs},
            {"sweep", job.sweep},
            {"disk_settings", plan.why_no_disk.empty() ? plan.disk_settings : 0},
            {"disk_part_bytes", plan.part_bytes},
            {"warm_bytes", plan.warm_bytes},
            {"bytes_from_disk", plan.reads.from_disk},
            {"bytes_from_page_cache", plan.reads.from_page_cache},
            {"ceilings", describe(ceilings)},
            {"prediction", describe(prediction)},
            {"reasons", reasons}};
  const std::string disk =
      plan.why_no_disk.empty()
          ? fmt::format("{} for {} each", format_count(plan.disk_settings, "setting"),
                        format_bytes(plan.part_bytes))
          : "not measured";
  std::vector<FactRow> facts{
      {"rounds", fmt::format("{}{}", job.runs, job.sweep ? ", and a sweep" : "")},
      {"device", std::string(kind)},
      {"disk", disk},
      {"in memory", format_bytes(plan.warm_bytes) + " of the file, for warm passes"},
      {"reads", fmt::format("{} from the disk, {} from the page cache, about",
                            format_decimal_bytes(plan.reads.from_disk),
                            format_decimal_bytes(plan.reads.from_page_cache))},
      {"ceilings", explain(ceilings)},
      {"predicted", prediction ? time : fmt::format("not known ({})", time)}};
  std::ranges::copy(try_side_files(settings.side_files), std::inserter(facts, facts.begin()));
  return explain("bench", settings.output, describe_input(source, {}), {{"plan", std::move(json)}},
                 heading(source), std::move(facts), reasons);
}

}  // namespace

Outcome run(const BenchRequest& request, const Interrupt& interrupt) {
  const RunSettings& settings = request.run;
  BenchJob job = job_of(request);
  Outcome outcome;
  const ooc::detail::measure::Clock clock;
  const std::string no_gpu = settings.device_kind() ? "" : ooc::why_no_gpu();
  job.choice_seconds = clock.seconds();
  job.device = settings.device_kind().value_or(no_gpu.empty() ? ooc::DeviceKind::cuda
                                                              : ooc::DeviceKind::cpu);
  const std::string why_cpu = no_gpu.empty() ? "" : fmt::format("CPU ({})", no_gpu);
  if (settings.explain) return explain_job(settings, job, why_cpu);
  std::optional<PictureFile> plot;  // opened first: fails before measuring, not after
  const SideFiles& files = settings.side_files;
  if (files.plot) plot.emplace(*files.plot, files.replace);
  if (!why_cpu.empty()) outcome.reasons.push_back(why_cpu);

  ProgressMeter meter(settings.output.progress, 1);
  job.stop = interrupt.token();
  job.progress = [&](double done, const BenchReads& all) {
    if (done == 0 && !settings.output.quiet) announce(job, all);
    meter.update({static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(all.bytes())});
  };
  const BenchResult result = run_measurements(job);
  const std::string& path = job.path;
  const ooc::Source source = part_of_file(path, 0, ooc::detail::File::open(path).size());
  const std::string unkept = keep_ceilings(result, path, source.bytes());
  if (!unkept.empty()) outcome.notes.push_back(unkept);

  outcome.document =
      settings.output.json
          ? document("bench", describe_input(source, {}), describe_bench(result, path), nullptr)
          : fmt::format("{}: {} on {}", printable(path), format_bytes(source.bytes()),
                        bench_text(result, path));
  if (plot) {
    const std::string title = fmt::format("{}: histogram u1 on {}, medians of {}", printable(path),
                                          result.device, result.runs);
    write_plot(
        *plot, "sweep", [&] { return plot_sweep(result, title); }, interrupt, outcome);
  }
  return outcome;
}

}  // namespace ooc_run
