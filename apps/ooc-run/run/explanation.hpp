#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/io/source.hpp>
#include <ooc/io/target.hpp>
#include <ooc/kernels/summary.hpp>
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
#include "run/session.hpp"

namespace ooc_run {

/// As the device will call itself when it has started.
std::string device_name(ooc::DeviceKind device, int ordinal);

/// How a command would take a dataset now. No data are read for it, and no GPU is started.
struct Explanation {
  DeviceChoice device;
  ooc::Stats pass;  // as plan_pass() has it, with the name of the device and the number of passes
  Ceilings ceilings;
  std::optional<Prediction> prediction;
};

/// `plan_on`: what the library says of the run, once the device is chosen. Throws Error as the run
/// would before it reads.
Explanation explain_run(const RunSettings& settings, const Task& task,
                        const std::function<ooc::Stats(ooc::DeviceKind)>& plan_on);

// For the operators.

Explanation explain_histogram(const RunSettings& settings, const ooc::Source& source,
                              const ooc::HistogramOptions& options);
Explanation explain_reduce(const RunSettings& settings, const ooc::Source& source,
                           const ooc::ReduceOptions& options);
Explanation explain_summary(const RunSettings& settings, const ooc::Source& source,
                            const ooc::SummaryOptions& options);
Explanation explain_convert(const RunSettings& settings, const ooc::Source& source,
                            const ooc::Target& target);

/// Throws Error(device) if a run is to be on a GPU that is not usable.
void require_gpu_if_wanted(const RunSettings& settings);

/// With the keys of `run`, as far as they are known before.
Json describe(const Explanation& plan);

/// What a command adds to its plan.
struct Remarks {
  std::vector<FactRow> facts{};        // which come first
  std::vector<std::string> reasons{};  // the same
};

/// The files that --plot, --trace and --report name, which the run would write beside its answer.
/// They are tried, and nothing is left of them. Throws Error(output) if there can be no such file.
std::vector<FactRow> try_side_files(const SideFiles& files);

/// Those files, why a plan takes the data as often as it does, and what --verify adds to that.
Remarks remarks_on(const Explanation& plan, const RunSettings& settings);

/// What --explain prints instead of a result.
Outcome explain(std::string_view command, const RunSettings& settings, const ooc::Source& source,
                const Explanation& plan, const Remarks& remarks);

/// A plan of another kind, as a document or for people: facts, reasons, and that nothing was done.
Outcome explain(std::string_view command, const OutputSettings& output, const Json& input,
                const Json& result, const std::string& heading, std::vector<FactRow> facts,
                std::span<const std::string> reasons, std::span<const std::string> warnings = {});

}  // namespace ooc_run
