#include "device_choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ooc/io/residency.hpp>
#include <ooc/io_way.hpp>

#include "sizes.hpp"

namespace ooc_run {
namespace {

/// A GPU that is not slower by more than that leaves the CPU to others.
constexpr double as_good_as_equal = 1.1;

}  // namespace

Workload passes_over(const ooc::Source& source, std::size_t passes, double core_bytes_per_second) {
  const double bytes = static_cast<double>(source.bytes()) * static_cast<double>(passes);
  return {.bytes = bytes,
          .cached = ooc::page_cache_fraction(source).value_or(0),
          .core_seconds = bytes / core_bytes_per_second};
}

std::size_t histogram_passes(const ooc::Source& source, const ooc::HistogramOptions& options) {
  const ooc::ElementType type = source.type().value_or(ooc::DType{}).element;
  const bool byte = type == ooc::ElementType::u1 || type == ooc::ElementType::i1;
  return options.range || !options.edges.empty() || (byte && !options.logarithmic) ? 1 : 2;
}

Workload histogram_work(const ooc::Source& source, const ooc::HistogramOptions& options) {
  constexpr double core_bytes_per_second = 2.2e9;
  return passes_over(source, histogram_passes(source, options), core_bytes_per_second);
}

Workload reduce_work(const ooc::Source& source, const ooc::ReduceOptions& options) {
  constexpr double plain_rate = 10e9, exact_rate = 2.5e9;  // integers are exact anyway
  return passes_over(source, 1, options.exact ? exact_rate : plain_rate);
}

MachineRates machine_rates(const ooc::Options& options) {
  MachineRates rates;
  rates.cores = ooc::choose_workers(options, ooc::DeviceKind::cpu).lanes;
  return rates;
}

Prediction predict(const Workload& work, const MachineRates& machine) {
  const double from_disk = (1 - work.cached) * work.bytes / machine.disk;
  const double copying = work.cached * work.bytes / machine.core_copies;
  const double on_cores = (copying + work.core_seconds) / static_cast<double>(machine.cores);
  return {.cpu_seconds = std::max(from_disk, on_cores),
          .gpu_seconds = machine.gpu_start + std::max(from_disk, work.bytes / machine.link)};
}

DeviceChoice choose_device(std::optional<ooc::DeviceKind> wanted, const Workload& work,
                           const MachineRates& machine) {
  if (wanted) return {*wanted, {}};
  const auto [cpu_seconds, gpu_seconds] = predict(work, machine);
  if (gpu_seconds > as_good_as_equal * cpu_seconds) {
    return {ooc::DeviceKind::cpu,
            fmt::format("computing on the CPU: predicted to take {}; a GPU, not looked for, {}",
                        format_seconds(cpu_seconds), format_seconds(gpu_seconds))};
  }
  const std::string no_gpu = ooc::why_no_gpu();
  if (!no_gpu.empty()) return {ooc::DeviceKind::cpu, "computing on the CPU: " + no_gpu};
  return {ooc::DeviceKind::cuda,
          fmt::format("computing on the GPU: predicted to take {} with its start, the CPU {}",
                      format_seconds(gpu_seconds), format_seconds(cpu_seconds))};
}

}  // namespace ooc_run
