#pragma once

#include <cstddef>
#include <cstdint>
#include <ooc/coordinator.hpp>
#include <ooc/io/source.hpp>
#include <ooc/kernels/histogram.hpp>
#include <ooc/kernels/reduce.hpp>
#include <optional>
#include <string>

namespace ooc_run {

/// What a run has to do, as far as that decides on which device it ends first.
struct Workload {
  double bytes = 0;         // to be read
  double cached = 0;        // the part of them that lies in the page cache, 0 to 1
  double core_seconds = 0;  // of computing, on one core of the CPU
};

/// `passes` over a source, of which a core computes so many bytes a second.
Workload passes_over(const ooc::Source& source, std::size_t passes, double core_bytes_per_second);

// The same for operators, at the rate of a slow type of each.

Workload histogram_work(const ooc::Source& source, const ooc::HistogramOptions& options);
Workload reduce_work(const ooc::Source& source, const ooc::ReduceOptions& options);

/// How often a histogram will read the data: the range of some types is known without looking.
std::size_t histogram_passes(const ooc::Source& source, const ooc::HistogramOptions& options);

/// What a machine does in a second (bytes), and how long its GPU takes to start (seconds). Typical
/// values, measured on a server with an H200: the choice needs no better ones.
struct MachineRates {
  std::size_t cores = 1;
  double disk = 3e9;
  double core_copies = 3.7e9;  // out of the page cache, while other cores do the same
  double link = 50e9;
  double gpu_start = 0.3;  // and its end
};

/// Those, for as many cores as a run with these options computes on.
MachineRates machine_rates(const ooc::Options& options);

struct Prediction {
  double cpu_seconds, gpu_seconds;
};

Prediction predict(const Workload& work, const MachineRates& machine);

/// The device that computes, and why it is this one if the choice was ours.
struct DeviceChoice {
  ooc::DeviceKind kind;
  std::string reason;
};

/// The one that was asked for; else the GPU if it is usable, unless the CPU is done earlier: CUDA
/// is not even started then.
DeviceChoice choose_device(std::optional<ooc::DeviceKind> wanted, const Workload& work,
                           const MachineRates& machine);

}  // namespace ooc_run
