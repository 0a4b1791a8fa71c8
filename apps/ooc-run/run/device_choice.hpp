#pragma once

#include <cstddef>
#include <filesystem>
#include <ooc/coordinator.hpp>
#include <ooc/io/source.hpp>
#include <ooc/kernels/summary.hpp>
#include <optional>
#include <string>

#include "rates/ceilings.hpp"
#include "rates/prediction.hpp"

namespace ooc_run {

/// An operator and its data, as far as the time of a run depends on them.
struct Task {
  std::filesystem::path file{};  // the first of the data
  std::string kernel{};          // as bench names it: "histogram u1"; empty: it measures none such
  std::size_t passes = 1;        // over the data
  double core_rate = 0;          // bytes that a core computes in a second, typically
  Workload work{};               // as far as that is known before a way of reading is chosen
};

/// A task that takes a source once or several times.
Task passes_over(const ooc::Source& source, std::size_t passes, double core_rate);

// The tasks of the operators, at the rate of a slow type of each.

Task histogram_task(const ooc::Source& source, const ooc::HistogramOptions& options);
Task reduce_task(const ooc::Source& source, const ooc::ReduceOptions& options);
Task summary_task(const ooc::Source& source, const ooc::SummaryOptions& options);
Task convert_task(const ooc::Source& source);

/// What each device does, each stage alone.
struct DeviceRates {
  Ceilings cpu, gpu;
  bool cuda = true;  // in this build
};

/// Those to choose by, for a run with these options: what is measured of the disk and the CPU, and
/// otherwise typical values, of a server with an H200. The choice needs no better ones, and does
/// not start a GPU to find out which it is.
DeviceRates rates_to_choose_by(const Task& task, const ooc::Options& options);

/// The device that computes, and why it is this one if the choice was ours.
struct DeviceChoice {
  ooc::DeviceKind kind;
  std::string reason;
};

/// The one that was asked for; else the GPU if it is usable, unless the CPU is done earlier: CUDA
/// is not even started then.
DeviceChoice choose_device(std::optional<ooc::DeviceKind> wanted, const Workload& work,
                           const DeviceRates& rates);

}  // namespace ooc_run
