#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/distinct.hpp>
#include <ooc/histogram.hpp>
#include <ooc/histogram_2d.hpp>
#include <ooc/quantile.hpp>
#include <ooc/source.hpp>
#include <ooc/target.hpp>
#include <ooc/top.hpp>
#include <ooc/weighted_histogram.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/fact_table.hpp"
#include "rates/prediction.hpp"
#include "result/outcome.hpp"
#include "result/report.hpp"
#include "run/device_choice.hpp"
#include "run/remarks.hpp"
#include "run/session.hpp"

namespace ooc_run {

/// The result of a dry run: how a command would process a dataset now. Reads no data and starts no
/// GPU.
struct Explanation {
  DeviceChoice device;
  ooc::Stats pass;        // of dry_run_pass(), with the name of the device and the number of passes
  std::string sharers{};  // see sharers_of()
  std::string why_passes{};  // the reason why there are several passes
  Ceilings ceilings;
  std::optional<Prediction> prediction;
};

/// Returns the options of a run's passes that decide how it reads.
ooc::PassOptions wanted_of(const RunSettings& settings);

/// Chooses the device and explains a run on it. `dry_run`: the library's dry run on a device.
/// Throws the Error that the run would throw before it reads.
Explanation explain_run(const RunSettings& settings, const Task& task,
                        const std::function<ooc::Stats(ooc::DeviceKind)>& dry_run);

// The same for each built-in operator that folds.

Explanation explain_histogram(const RunSettings& settings, const ooc::Source& source,
                              const ooc::HistogramOptions& options);
Explanation explain_reduce(const RunSettings& settings, const ooc::Source& source,
                           const ooc::ReduceOptions& options);
Explanation explain_summary(const RunSettings& settings, const ooc::Source& source,
                            const ooc::SummaryOptions& options);
Explanation explain_columns(const RunSettings& settings, const ooc::Source& source,
                            const ooc::ReduceOptions& options);
/// `passes`: 1 for a round of shards, else quantile_passes().
Explanation explain_quantile(const RunSettings& settings, const ooc::Source& source,
                             const ooc::QuantileOptions& options, std::size_t passes);
Explanation explain_top(const RunSettings& settings, const ooc::Source& source,
                        const ooc::TopOptions& options);
Explanation explain_distinct(const RunSettings& settings, const ooc::Source& source,
                             const ooc::DistinctOptions& options, bool is_part = false);

/// `passes`: histogram_2d_passes().
Explanation explain_histogram_2d(const RunSettings& settings, std::span<const ooc::Source> sources,
                                 const ooc::PairAxis& x, const ooc::PairAxis& y,
                                 std::size_t passes);

/// `sources`: of the values and of their weights.
Explanation explain_weighted_histogram(const RunSettings& settings,
                                       std::span<const ooc::Source> sources,
                                       const ooc::HistogramOptions& options);

/// Throws Error(device) if one of these devices is a GPU that is not usable.
void require_usable(std::span<const DeviceName> devices);

/// Returns an explanation as JSON, with the keys of `run` that are known before a run.
Json describe(const Explanation& explanation);

/// Returns the rows about side files, checkpoint and ranks, and the reasons that concern passes,
/// holes and the reads of --verify. `output`: what the run would write, if it does.
Remarks remarks_on(const Explanation& explanation, const RunSettings& settings,
                   const std::string& output = "");

/// Returns the output of --explain for one source, or for two that are read side by side.
Outcome explain(std::string_view command, const RunSettings& settings,
                std::span<const ooc::Source> sources, const Explanation& explanation,
                const Remarks& remarks);
inline Outcome explain(std::string_view command, const RunSettings& settings,
                       const ooc::Source& source, const Explanation& explanation,
                       const Remarks& remarks) {
  return explain(command, settings, {&source, 1}, explanation, remarks);
}

/// Like explain() above, for other kinds of plans. `result` is for the JSON document; `facts` and
/// `reasons` are for text.
Outcome explain(std::string_view command, const OutputSettings& output, const Json& input,
                const Json& result, const std::string& heading, std::vector<FactRow> facts,
                std::span<const std::string> reasons, std::span<const std::string> warnings = {});

}  // namespace ooc_run
