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
  std::string kernel{};          // its name in bench: "histogram u1"; empty: not measured there
  std::size_t passes = 1;        // over the data
  double core_rate = 0;          // typical bytes per second of one core
  Workload work{};               // as far as it is known before the I/O configuration is chosen
  std::string why_alone{};       // the reason why several devices do not share it; or empty
  bool is_remote = false;        // from a server, which is taken to be as fast as a disk
  bool only_gpus = false;        // share it, if there are some: the CPU would take far longer
};

/// Returns a task of one or several passes over a source.
Task passes_over(const ooc::Source& source, std::size_t passes, double core_rate);

// The tasks of the operators. Their core rates are those of a slow element type.

Task histogram_task(const ooc::Source& source, const ooc::HistogramOptions& options);
Task reduce_task(const ooc::Source& source, const ooc::ReduceOptions& options);
Task summary_task(const ooc::Source& source, const ooc::SummaryOptions& options);
Task convert_task(const ooc::Source& source);

/// The rates of the stages of a run on each device.
struct DeviceRates {
  Ceilings cpu, gpu;
  bool cuda = true;                     // this build has CUDA
  bool any_gpu = true;                  // there seems to be one; only the driver knows
  std::optional<double> host_copies{};  // out of the page cache by all cores; empty: not measured
};

/// Returns the rates for choosing a device: measured ones of the disk and the CPU if there are any,
/// otherwise typical values of a server with an H200. These are good enough for the choice, and do
/// not require starting a GPU.
DeviceRates rates_to_choose_by(const Task& task, const ooc::Options& options);

/// The devices that compute, at least one, and the reason if it is not what the user asked for.
struct DeviceChoice {
  std::vector<DeviceName> devices;
  std::string reason;

  /// Of the device, or of the first one.
  ooc::DeviceKind kind() const { return devices.front().kind; }
};

/// Returns those who share a run, "several ranks" or "several devices"; empty if there is one.
std::string_view sharers_of(const DeviceChoice& choice, const RunSettings& settings);

/// Says that a limit for GPU memory has no effect, if there is one and only the CPU computes.
/// Empty for a product and a conversion: it limits their panels and buffers on any device.
std::string idle_gpu_limit(const DeviceChoice& choice, const RunSettings& settings);

/// Returns the name that the device will have when it has started.
std::string device_name(ooc::DeviceKind device, int ordinal);

/// Returns the names of all devices.
std::string names_of(const DeviceChoice& choice);

/// Returns the devices that the user `wanted`, unchecked; of several, one if there are no others,
/// if these are predicted not to help, or if the work is not shared. Without a wish: the GPU,
/// unless it is not usable or the CPU is predicted to be faster by more than 10 %. That prediction
/// comes first, so that a run on the CPU does not wait for CUDA to start. A stage without a rate
/// counts as infinitely fast.
DeviceChoice choose_device(std::span<const DeviceName> wanted, const Task& task,
                           const DeviceRates& rates);

/// The same for a run.
DeviceChoice choose_device(const RunSettings& settings, Task task);

/// Starts the devices.
std::vector<std::unique_ptr<ooc::Device>> make_devices(const DeviceChoice& choice);

}  // namespace ooc_run
