#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <ooc/coordinator.hpp>
#include <ooc/histogram.hpp>
#include <ooc/source.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rates/ceilings.hpp"
#include "rates/prediction.hpp"
#include "request/run_settings.hpp"

namespace ooc_run {

/// The properties of an operator and its data that determine the time of a run.
struct Task {
  std::filesystem::path file{};  // the first file of the data
  std::string kernel{};          // its name in bench: "histogram u1"; empty if not measured
  std::size_t passes = 1;        // number of passes over the data
  double core_rate = 0;          // typical bytes per second of one core
  Workload work{};               // as far as it is known before the I/O configuration is chosen
  std::string why_alone{};       // the reason why only one device can do it; or empty
  bool is_remote = false;        // on a server, assumed to be as fast as a disk
  bool only_gpus = false;        // only GPUs share it, if there are some: a CPU would take too long
};

/// Returns a task of one or several passes over a source.
Task passes_over(const ooc::Source& source, std::size_t passes, double core_rate);

// The tasks of the operators. Their core rates hold for an element type that is slow to process.

Task histogram_task(const ooc::Source& source, const ooc::HistogramOptions& options);
Task reduce_task(const ooc::Source& source, const ooc::ReduceOptions& options);
Task summary_task(const ooc::Source& source, const ooc::SummaryOptions& options);
/// `passes`: 1 for a round of shards, else quantile_passes().
Task quantile_task(const ooc::Source& source, std::size_t passes);
Task top_task(const ooc::Source& source);
Task distinct_task(const ooc::Source& source);
/// `passes`: histogram_2d_passes().
Task histogram_2d_task(std::span<const ooc::Source> sources, std::size_t passes);
/// `sources`: of the values and of their weights.
Task weighted_histogram_task(std::span<const ooc::Source> sources,
                             const ooc::HistogramOptions& options);
Task gram_task(const ooc::Source& source);
Task convert_task(const ooc::Source& source);
Task scan_task(const ooc::Source& source);
Task rows_task(const ooc::Source& source);  // of reduce --axis 1
Task split_task(const ooc::Source& source);
Task filter_task(const ooc::Source& source);

/// The rates of the stages of a run on each device.
struct DeviceRates {
  Ceilings cpu, gpu;
  bool cuda = true;                     // this build has CUDA
  bool any_gpu = true;                  // a GPU seems to exist; only the driver knows
  std::optional<double> host_copies{};  // from the page cache by all cores, if measured
};

/// Returns the rates for choosing a device: measured rates of the disk and the CPU if there are
/// any, otherwise typical values of a server with an H200. They are accurate enough for the choice,
/// and no GPU must be started to find them.
DeviceRates rates_to_choose_by(const Task& task, const ooc::Options& options);

/// The devices that compute, at least one, and the reason if the user did not choose them.
struct DeviceChoice {
  std::vector<DeviceName> devices;
  std::string reason;

  /// Returns the kind of the first device.
  ooc::DeviceKind kind() const { return devices.front().kind; }
};

/// Returns "several ranks" or "several devices" if these share the run; otherwise an empty text.
std::string_view sharers_of(const DeviceChoice& choice, const RunSettings& settings);

/// Returns a note that the limit for GPU memory has no effect, if one is set and only the CPU
/// computes. Empty for products and conversions, whose memory it limits on any device.
std::string idle_gpu_limit(const DeviceChoice& choice, const RunSettings& settings);

/// Returns the name that the device will have when it has started.
std::string device_name(ooc::DeviceKind device, int ordinal);

/// Returns the names of all devices.
std::string names_of(const DeviceChoice& choice);

/// Returns the devices in `wanted`, without checking that they are usable; only one if the others
/// do not exist, are predicted not to help, or cannot share the work. If `wanted` is empty, returns
/// the GPU, unless it is not usable or the CPU is predicted to be more than 10 % faster. The
/// prediction is made first, so that a run on the CPU does not wait for CUDA to start. A stage
/// without a rate counts as infinitely fast.
DeviceChoice choose_device(std::span<const DeviceName> wanted, const Task& task,
                           const DeviceRates& rates);

/// Chooses the devices of a run by its settings and, among ranks, gives each its own GPU.
DeviceChoice choose_device(const RunSettings& settings, Task task);

/// Starts the devices.
std::vector<std::unique_ptr<ooc::Device>> make_devices(const DeviceChoice& choice);

}  // namespace ooc_run
