#include "run/explanation.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ooc/convert.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/device/cuda_facts.hpp>
#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/detail/sizing/dry_run_pass.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/error.hpp>
#include <system_error>
#include <utility>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "dataset/type_doubt.hpp"
#include "machine/machine_facts.hpp"
#include "result/reasons.hpp"

namespace ooc_run {

namespace {

std::vector<std::string> reasons_of(const Explanation& explanation) {
  std::vector<std::string> reasons = sentences_of(explanation.pass.layout.reasons);
  const std::string& why_device = explanation.device.reason;
  if (!why_device.empty()) reasons.insert(reasons.begin(), why_device);
  return reasons;
}

std::string reading_text(const ooc::Stats& pass) {
  if (is_remote(pass)) {
    return fmt::format("over HTTP, {} of {} in flight",
                       format_count(pass.layout.queue_depth, "request"),
                       format_binary_bytes(pass.layout.block_bytes));
  }
  return fmt::format(
      "{}, {}, {} of {} in flight", pass.layout.engine == "uring" ? "io_uring" : "threads",
      pass.layout.direct ? "direct" : "through the page cache",
      format_count(pass.layout.queue_depth, "read"), format_binary_bytes(pass.layout.block_bytes));
}

/// Returns the number of threads and their tasks. There may be more threads than cores, because
/// those that read with direct I/O mostly wait for the disk.
std::string threads_text(const ooc::Stats& pass) {
  std::string text = group_digits(std::to_string(pass.layout.threads));
  if (pass.layout.engine == "threads" && pass.layout.threads > ooc::detail::usable_cores() &&
      !pass.layout.reads_inline) {
    text += fmt::format(": {} compute, {} read{}", pass.layout.streams,
                        pass.layout.threads - pass.layout.streams,
                        pass.layout.direct ? " and mostly wait for the disk" : "");
  }
  return text;
}

std::string memory_text(const ooc::Stats& pass) {
  std::string text = format_bytes(pass.layout.pool_bytes) + " for chunks";
  if (pass.layout.operator_bytes != 0) {
    text += fmt::format(", {} for results", format_bytes(pass.layout.operator_bytes));
  }
  if (pass.layout.read_ahead_bytes != 0) {
    text += fmt::format(", into which {} are read ahead while the GPU starts",
                        format_decimal_bytes(static_cast<double>(pass.layout.read_ahead_bytes)));
  }
  if (pass.layout.device_bytes != 0) {
    text += fmt::format(", {} on the GPU for its streams", format_bytes(pass.layout.device_bytes));
  }
  return text;
}

/// Returns the facts. Empty for a dataset without elements.
std::vector<FactRow> rows_of(const Explanation& explanation) {
  const ooc::Stats& pass = explanation.pass;
  std::vector<FactRow> rows;
  const bool is_produced = pass.layout.is_produced;
  if (pass.layout.chunks == 0 && !is_produced) return rows;
  rows.push_back(
      {"reads", is_produced ? "all there is, as it comes" : format_bytes(pass.outcome.bytes)});
  if (pass.outcome.passes > 1) {
    rows.back().text += fmt::format(" in each of {} passes: {}", pass.outcome.passes,
                                    format_decimal_bytes(bytes_read(pass)));
    if (pass.outcome.resident_bytes != 0) {
      rows.back().text +=
          fmt::format(", since the GPU keeps {}", format_bytes(pass.outcome.resident_bytes));
    }
  }
  if (pass.outcome.bytes_written != 0)
    rows.push_back({"writes", format_bytes(pass.outcome.bytes_written)});
  const bool is_shared = explanation.device.devices.size() > 1;
  rows.push_back({"device", pass.layout.device});
  if (is_shared) rows.push_back({"", "which share the data; the rest is of the first one"});
  if (!is_produced) rows.push_back({"reading", reading_text(pass)});
  rows.push_back(
      {"chunks",
       fmt::format("{}of {}, for {}",
                   is_produced ? "" : group_digits(std::to_string(pass.layout.chunks)) + " ",
                   format_binary_bytes(pass.layout.chunk_bytes),
                   format_count(pass.layout.streams, "stream"))});
  rows.push_back({"threads", threads_text(pass)});
  rows.push_back({"memory", memory_text(pass)});
  if (is_remote(pass)) {
    rows.push_back({"predicted", explain(explanation.prediction, "a server")});
    return rows;
  }
  rows.push_back({"ceilings", explain(explanation.ceilings)});
  rows.push_back({"predicted", explain(explanation.prediction, explanation.sharers)});
  return rows;
}

/// Changes the plan of several passes to one that keeps no data on a GPU between them.
void keep_nothing(ooc::Stats& pass) {
  pass.outcome.resident_bytes = 0;
  std::erase_if(pass.layout.reasons, [](const ooc::Reason& reason) {
    return reason.what == ooc::ReasonKind::resident_input;
  });
}

/// Adapts an explanation to a run that several devices or ranks share: no data are resident, and
/// there is no prediction.
Explanation with_sharers(Explanation explanation) {
  keep_nothing(explanation.pass);
  explanation.pass.layout.device = names_of(explanation.device);
  return explanation;
}

/// Adds the purpose of a first pass.
Explanation with_first_pass(Explanation explanation, const ooc::HistogramOptions& options) {
  const std::size_t passes = explanation.pass.outcome.passes;
  explanation.why_passes =
      passes > 2 ? fmt::format(
                       "{} passes: all but the last find the range and the quartiles, by which the "
                       "rule gives the number of bins",
                       passes)
      : options.bins.rule()
          ? "two passes: the first finds the range and the number of the bins, which the rule gives"
          : "two passes: the first finds the range of the bins, which --range would give";
  return explanation;
}

}  // namespace

void require_usable(std::span<const DeviceName> devices) {
  for (const auto& [kind, ordinal] : devices) {
    if (kind != ooc::DeviceKind::cuda) continue;
    const std::string why =
        why_not_on_gpu(ooc::detail::cuda_facts(), static_cast<std::size_t>(ordinal));
    if (why.empty()) continue;
    throw ooc::Error(ooc::ErrorKind::device, "no usable GPU: " + why,
                     {.hint = "ooc-run doctor says what is missing; or use --device cpu"});
  }
}

ooc::PassOptions wanted_of(const RunSettings& settings) {
  return {.checksum = settings.checksum, .checkpoint = settings.checkpoint};
}

Explanation explain_run(const RunSettings& settings, const Task& task,
                        const std::function<ooc::Stats(ooc::DeviceKind)>& dry_run) {
  Explanation explanation;
  explanation.device = choose_device(settings, task);
  const std::vector<DeviceName>& devices = explanation.device.devices;
  if (!settings.devices.empty()) require_usable(devices);
  const ooc::DeviceKind device = explanation.device.kind();
  explanation.pass = dry_run(device);
  explanation.pass.layout.device = device_name(device, devices.front().ordinal);
  explanation.sharers = sharers_of(explanation.device, settings);
  if (!explanation.sharers.empty()) return with_sharers(std::move(explanation));
  explanation.ceilings = read_ceilings({task.file, explanation.pass.layout.device, task.kernel});
  explanation.prediction =
      predict(work_of(explanation.pass, device, settings.checksum), device, explanation.ceilings);
  return explanation;
}

Explanation explain_histogram(const RunSettings& settings, const ooc::Source& source,
                              const ooc::HistogramOptions& options) {
  const auto dry_run = [&](ooc::DeviceKind device) {
    return ooc::dry_run_histogram(settings.options, device, source, options, wanted_of(settings));
  };
  return with_first_pass(explain_run(settings, histogram_task(source, options), dry_run), options);
}

Explanation explain_reduce(const RunSettings& settings, const ooc::Source& source,
                           const ooc::ReduceOptions& options) {
  return explain_run(settings, reduce_task(source, options), [&](ooc::DeviceKind device) {
    return ooc::detail::dry_run_pass(
        settings.options, device, ooc::detail::stored_input(source, ooc::size_of(source.element())),
        {}, wanted_of(settings));
  });
}

Explanation explain_columns(const RunSettings& settings, const ooc::Source& source,
                            const ooc::ReduceOptions& options) {
  return explain_run(settings, reduce_task(source, options), [&](ooc::DeviceKind device) {
    return ooc::dry_run_reduce_columns(settings.options, device, source, options,
                                       wanted_of(settings));
  });
}

Explanation explain_summary(const RunSettings& settings, const ooc::Source& source,
                            const ooc::SummaryOptions& options) {
  return with_first_pass(explain_run(settings, summary_task(source, options),
                                     [&](ooc::DeviceKind device) {
                                       return ooc::dry_run_histogram(settings.options, device,
                                                                     source, options.histogram,
                                                                     wanted_of(settings));
                                     }),
                         options.histogram);
}

Explanation explain_quantile(const RunSettings& settings, const ooc::Source& source,
                             const ooc::QuantileOptions& options, std::size_t passes) {
  Explanation explanation =
      explain_run(settings, quantile_task(source, passes), [&](ooc::DeviceKind device) {
        ooc::Stats stats =
            ooc::dry_run_quantile(settings.options, device, source, options, wanted_of(settings));
        if (passes == 1) {
          stats.outcome.passes = 1;
          keep_nothing(stats);
        }
        return stats;
      });
  explanation.why_passes = fmt::format(
      "{} passes: each but the first looks closer at where the one before has found the quantiles",
      passes);
  return explanation;
}

Explanation explain_top(const RunSettings& settings, const ooc::Source& source,
                        const ooc::TopOptions& options) {
  return explain_run(settings, top_task(source), [&](ooc::DeviceKind device) {
    return ooc::dry_run_top(settings.options, device, source, options, wanted_of(settings));
  });
}

Explanation explain_distinct(const RunSettings& settings, const ooc::Source& source,
                             const ooc::DistinctOptions& options, bool is_part) {
  const ooc::PassOptions wanted = wanted_of(settings);
  return explain_run(settings, distinct_task(source), [&](ooc::DeviceKind device) {
    return ooc::dry_run_distinct(settings.options, device, source, options, wanted, is_part);
  });
}

Explanation explain_histogram_2d(const RunSettings& settings, std::span<const ooc::Source> sources,
                                 const ooc::PairAxis& x, const ooc::PairAxis& y,
                                 std::size_t passes) {
  Explanation explanation =
      explain_run(settings, histogram_2d_task(sources, passes), [&](ooc::DeviceKind device) {
        return ooc::dry_run_histogram_2d(settings.options, device, x, y, wanted_of(settings));
      });
  explanation.why_passes = "two passes: the first finds the ranges, which --ranges would give";
  return explanation;
}

Explanation explain_weighted_histogram(const RunSettings& settings,
                                       std::span<const ooc::Source> sources,
                                       const ooc::HistogramOptions& options) {
  const auto dry_run = [&](ooc::DeviceKind device) {
    return ooc::dry_run_weighted_histogram(settings.options, device, sources[0], sources[1],
                                           options, wanted_of(settings));
  };
  return with_first_pass(explain_run(settings, weighted_histogram_task(sources, options), dry_run),
                         options);
}

Remarks remarks_on(const Explanation& explanation, const RunSettings& settings,
                   const std::string& output) {
  Remarks remarks;
  if (!output.empty()) remarks.facts.push_back({"output", output});
  std::ranges::move(try_side_files(settings.side_files), std::back_inserter(remarks.facts));
  std::ranges::move(checkpoint_row(settings.checkpoint), std::back_inserter(remarks.facts));
  if (settings.rank_count() > 1) {
    remarks.facts.push_back(
        {"ranks", fmt::format("{}, which share the data; the plan is that of rank 0",
                              settings.rank_count())});
  }
  if (explanation.pass.outcome.passes > 1) {
    remarks.reasons.push_back(explanation.why_passes);
    if (!explanation.pass.layout.direct && explanation.pass.outcome.resident_bytes == 0 &&
        explanation.pass.layout.page_cache_fraction.value_or(0) < 1) {
      remarks.reasons.emplace_back(
          "the second pass may be read in another way, from what the first brings into the page "
          "cache");
    }
  }
  constexpr double some = 0.01;
  if (explanation.pass.layout.hole_fraction > some) {
    remarks.reasons.push_back(fmt::format(
        "{:.0f} % of the data are holes: they were never written, are on no disk and are "
        "predicted to come as fast as from the page cache",
        100 * explanation.pass.layout.hole_fraction));
  }
  if (settings.verify) {
    remarks.reasons.emplace_back(
        "--verify reads the data once more afterwards, on the CPU, which is not in the prediction");
  }
  return remarks;
}

Json describe(const Explanation& explanation) {
  const ooc::Stats& pass = explanation.pass;
  return {{"device", pass.layout.device},
          {"engine", pass.layout.engine},
          {"direct", pass.layout.direct},
          {"reasons", reasons_of(explanation)},
          {"page_cache_fraction", json_number(pass.layout.page_cache_fraction)},
          {"chunk_bytes", pass.layout.chunk_bytes},
          {"chunks", pass.layout.chunks},
          {"block_bytes", pass.layout.block_bytes},
          {"in_flight", pass.layout.queue_depth},
          {"streams", pass.layout.streams},
          {"threads", pass.layout.threads},
          {"pool_bytes", pass.layout.pool_bytes},
          {"operator_bytes", pass.layout.operator_bytes},
          {"read_ahead_bytes", pass.layout.read_ahead_bytes},
          {"device_bytes", pass.layout.device_bytes},
          {"passes", pass.outcome.passes},
          {"resident_bytes", pass.outcome.resident_bytes},
          {"bytes_written", pass.outcome.bytes_written},
          {"prediction", describe(explanation.prediction)},
          {"ceilings", describe(explanation.ceilings)}};
}

Outcome explain(std::string_view command, const RunSettings& settings,
                std::span<const ooc::Source> sources, const Explanation& explanation,
                const Remarks& remarks) {
  std::vector<std::string> reasons = remarks.reasons;
  std::vector<std::string> warnings;
  for (const ooc::Source& source : sources) {
    std::string doubt = type_doubt(source, settings.format);
    if (!doubt.empty()) warnings.push_back(std::move(doubt));
  }
  reasons.insert(reasons.begin(), warnings.begin(), warnings.end());
  for (std::string& reason : reasons_of(explanation)) reasons.push_back(std::move(reason));
  if (explanation.pass.layout.chunks != 0) {
    const ooc::LayoutStats& layout = explanation.pass.layout;
    if (layout.why_chunk) reasons.push_back(sentence_of(*layout.why_chunk));
    if (layout.why_streams) reasons.push_back(sentence_of(*layout.why_streams));
  }
  if (std::string note = idle_gpu_limit(explanation.device, settings); !note.empty()) {
    reasons.push_back(std::move(note));
  }
  Json json = describe(explanation);
  json["reasons"] = reasons;
  std::vector<FactRow> facts = remarks.facts;
  for (FactRow& row : rows_of(explanation)) facts.push_back(std::move(row));
  return explain(command, settings.output, describe_inputs(command, sources, settings.format),
                 {{"plan", json}}, headings(sources), std::move(facts), reasons, warnings);
}

Outcome explain(std::string_view command, const OutputSettings& output, const Json& input,
                const Json& result, const std::string& heading, std::vector<FactRow> facts,
                std::span<const std::string> reasons, std::span<const std::string> warnings) {
  Outcome outcome;
  if (output.json) {
    outcome.document = document(command, input, result, nullptr, warnings);
    return outcome;
  }
  std::string_view label = "because";
  for (const std::string& reason : reasons) facts.push_back({std::exchange(label, "and"), reason});
  outcome.document = fmt::format("{}\n\n{}\nNothing was read and nothing was written.\n", heading,
                                 fact_table(facts, describe_terminal(STDOUT_FILENO).columns));
  return outcome;
}

}  // namespace ooc_run
