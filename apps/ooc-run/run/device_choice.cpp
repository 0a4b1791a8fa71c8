#include "run/device_choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/device/cuda_facts.hpp>
#include <ooc/detail/sizing/facts.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/detail/sizing/typical_rates.hpp>
#include <utility>

#include "cli/build_facts.hpp"
#include "cli/sizes.hpp"
#include "cli/type_words.hpp"
#include "result/report.hpp"

namespace ooc_run {
namespace {

/// A GPU is preferred if it takes up to 10 % longer than the CPU, since it leaves the CPU free.
constexpr double as_good_as_equal = 1.1;

std::string kernel_of(std::string_view command, const ooc::Source& source) {
  return kernel_name(command, ooc::code_of(source.type().value_or(ooc::DType{})));
}

double seconds_of(const Workload& work, ooc::DeviceKind device, const Ceilings& rates) {
  const auto prediction = predict(work, device, rates);
  return prediction ? prediction->seconds : 0;
}

std::string why_not_gpu(const std::string& no_gpu) {
  return fmt::format("CPU ({})", no_gpu);
}

std::string why_cpu(double cpu_seconds, double gpu_seconds, double gpu_start) {
  if (cpu_seconds <= gpu_start) {
    return "CPU (too small for a GPU to pay off)";
  }
  return fmt::format("CPU (a GPU would take {:.1f} times as long)", gpu_seconds / cpu_seconds);
}

std::string why_gpu(double cpu_seconds, double gpu_seconds) {
  if (cpu_seconds < as_good_as_equal * gpu_seconds) {
    return "GPU (about as fast as the CPU, which stays free)";
  }
  return fmt::format("GPU (the CPU would take {:.1f} times as long)", cpu_seconds / gpu_seconds);
}

std::string title_of(const DeviceName& device) {
  return device.kind == ooc::DeviceKind::cpu ? "the CPU" : fmt::format("cuda:{}", device.ordinal);
}

/// Returns as many of several GPUs as copies out of the page cache can keep busy.
DeviceChoice choose_gpus(std::vector<DeviceName> gpus, const Task& task, const DeviceRates& rates) {
  constexpr double worth = 1.25;  // each additional GPU must be worth its start
  const double link = rates.gpu.h2d.value_or(ooc::detail::typical::link);
  const bool is_cached = task.work.from_page_cache > task.work.from_disk;
  if (!rates.host_copies || !is_cached) return {std::move(gpus), {}};
  const std::size_t all = gpus.size();
  std::size_t fed = 1;
  while (fed < all && *rates.host_copies >= worth * static_cast<double>(fed) * link) ++fed;
  if (fed == all) return {std::move(gpus), {}};
  gpus.resize(fed);
  return {gpus, fmt::format("{} of {} GPUs (the page cache gives {}, and a GPU takes about {})",
                            gpus.size(), all, format_rate(*rates.host_copies), format_rate(link))};
}

/// Returns those of several devices that help: the fastest if the disk limits the run, the CPU if
/// it would be done before a GPU has started, and no more GPUs than the page cache can feed.
DeviceChoice choose_helpful(std::span<const DeviceName> wanted, const Task& task,
                            const DeviceRates& rates) {
  constexpr double bound = 0.85;  // fraction of the time; several devices would gain too little
  const auto is_cpu = [](const DeviceName& device) { return device.kind == ooc::DeviceKind::cpu; };
  const auto cpu = std::ranges::find_if(wanted, is_cpu);
  if (cpu != wanted.end() && !rates.any_gpu) {
    const std::string no_gpu = ooc::why_no_gpu();
    if (!no_gpu.empty()) return {{*cpu}, fmt::format("the CPU alone ({})", no_gpu)};
  }
  if (!task.why_alone.empty()) {
    return {{wanted.front()},
            fmt::format("{} alone ({})", title_of(wanted.front()), task.why_alone)};
  }
  const Workload& work = task.work;
  const auto seconds_on = [&](const DeviceName& device) {
    const bool gpu = device.kind == ooc::DeviceKind::cuda;
    return seconds_of(work, device.kind, gpu ? rates.gpu : rates.cpu);
  };
  const DeviceName& best = *std::ranges::min_element(wanted, {}, seconds_on);
  const double disk_seconds = rates.cpu.disk ? work.from_disk / *rates.cpu.disk : 0;
  if (disk_seconds >= bound * seconds_on(best)) {
    if (task.is_remote) {
      return {{best}, fmt::format("{} alone (a server is taken to be slower)", title_of(best))};
    }
    return {{best},
            fmt::format("{} alone (the disk, with about {}, is slower than it)", title_of(best),
                        format_rate(*rates.cpu.disk))};
  }
  const double decode_seconds = rates.cpu.decode ? work.decoded / *rates.cpu.decode : 0;
  if (decode_seconds >= bound * seconds_on(best)) {
    return {{best},
            fmt::format("{} alone (decoding, with about {}, is slower than it)", title_of(best),
                        format_rate(*rates.cpu.decode))};
  }
  if (cpu != wanted.end() && seconds_on(*cpu) <= rates.gpu.start_seconds.value_or(0)) {
    return {{*cpu}, "the CPU alone (it is done before a GPU has started)"};
  }
  std::vector<DeviceName> devices(wanted.begin(), wanted.end());
  if (!task.only_gpus && cpu == wanted.end()) return choose_gpus(devices, task, rates);
  if (!task.only_gpus || std::erase_if(devices, is_cpu) == 0) return {devices, {}};
  return {devices, "the GPUs alone (a CPU would take far longer for its part)"};
}

/// Gives each of several ranks that see the same GPUs its own GPU, as long as there are enough.
DeviceChoice choose_own_gpu(const DeviceChoice& choice, const ooc::Ranks& ranks) {
  const auto gpus = static_cast<std::size_t>(std::max(ooc::detail::visible_gpus(), 1));
  const std::size_t rank = ranks.rank_on_gpus();
  if (rank < gpus) {
    const DeviceName own{ooc::DeviceKind::cuda, static_cast<int>(rank)};
    return {{own}, choice.reason};
  }
  return {{{ooc::DeviceKind::cpu}},
          fmt::format("CPU ({} of this machine share {})",
                      format_count(ranks.ranks_on_gpus(), "rank"), format_count(gpus, "GPU"))};
}

/// Returns the task with the work of computing statistics added to one of its passes.
Task with_statistics(const ooc::Source& source, const Task& task,
                     const ooc::ReduceOptions& options) {
  const double reducing_rate = reduce_task(source, options).core_rate;
  const auto passes = static_cast<double>(task.passes);
  // Both are computed by one kernel, whose rate bench does not measure.
  return passes_over(source, task.passes, passes / (passes / task.core_rate + 1 / reducing_rate));
}

Task writing_task(const ooc::Source& source, double core_rate) {
  Task task = passes_over(source, 1, core_rate);
  task.why_alone = "it writes a file";
  return task;
}

}  // namespace

Task passes_over(const ooc::Source& source, std::size_t passes, double core_rate) {
  const double bytes = static_cast<double>(source.bytes()) * static_cast<double>(passes);
  const ooc::detail::SourceFacts facts = ooc::detail::facts_of(source);
  const double from_disk =
      facts.decodes ? 0 : (1 - facts.cached_or_none()) * (1 - facts.holes) * bytes;
  // A source that is read with both direct and buffered I/O is not read ahead.
  const double ahead =
      ooc::detail::can_mix_reads({}, facts)
          ? 0
          : std::min(from_disk, static_cast<double>(ooc::detail::most_read_ahead_bytes));
  return {.file = ooc::detail::path_of(source),
          .passes = passes,
          .core_rate = core_rate,
          .work = {.from_disk = from_disk,
                   .from_page_cache = facts.decodes ? 0 : bytes - from_disk,
                   .decoded = facts.decodes ? bytes : 0,
                   .read_ahead = ahead,
                   .to_device = bytes,
                   .through_kernel = bytes},
          .is_remote = !facts.server.empty()};
}

Task histogram_task(const ooc::Source& source, const ooc::HistogramOptions& options) {
  constexpr double core_rate = 2.2e9;
  Task task = passes_over(source, ooc::histogram_passes(source, options), core_rate);
  if (options.bins.rule() == ooc::BinRule::scott) return with_statistics(source, task, {});
  task.kernel = kernel_of("histogram", source);
  return task;
}

Task reduce_task(const ooc::Source& source, const ooc::ReduceOptions& options) {
  constexpr double plain_rate = 10e9, exact_rate = 2.5e9;
  // Sums of integers are always exact.
  const bool exact = options.exact && is_float(source.element());
  Task task = passes_over(source, 1, exact ? exact_rate : plain_rate);
  // Exact sums are computed by another kernel, whose rate bench does not measure.
  if (!exact) task.kernel = kernel_of("reduce", source);
  return task;
}

Task summary_task(const ooc::Source& source, const ooc::SummaryOptions& options) {
  return with_statistics(source, histogram_task(source, options.histogram), options.reduce);
}

Task quantile_task(const ooc::Source& source, std::size_t passes) {
  constexpr double core_rate = 1.5e9;
  return passes_over(source, passes, core_rate);
}

Task top_task(const ooc::Source& source) {
  constexpr double core_rate = 8e9;
  return passes_over(source, 1, core_rate);
}

Task distinct_task(const ooc::Source& source) {
  constexpr double core_rate = 0.3e9;
  return passes_over(source, 1, core_rate);
}

namespace {

/// Returns a task of passes over several sources in step.
Task passes_over_all(std::span<const ooc::Source> sources, std::size_t passes, double core_rate) {
  Task task = passes_over(sources.front(), passes, core_rate);
  for (const ooc::Source& source : sources.subspan(1)) {
    const Workload other = passes_over(source, passes, core_rate).work;
    task.work.from_disk += other.from_disk;
    task.work.from_page_cache += other.from_page_cache;
    task.work.decoded += other.decoded;
    task.work.read_ahead = std::max(task.work.read_ahead, other.read_ahead);
    task.work.to_device += other.to_device;
    task.work.through_kernel += other.through_kernel;
  }
  return task;
}

}  // namespace

Task histogram_2d_task(std::span<const ooc::Source> sources, std::size_t passes) {
  constexpr double core_rate = 2e9;
  return passes_over_all(sources, passes, core_rate);
}

Task weighted_histogram_task(std::span<const ooc::Source> sources,
                             const ooc::HistogramOptions& options) {
  constexpr double core_rate = 1.5e9;
  return passes_over_all(sources, ooc::histogram_passes(sources.front(), options), core_rate);
}

Task gram_task(const ooc::Source& source) {
  constexpr double convert_rate = 2e9, double_flops = ooc::detail::typical::core_flops / 2;
  constexpr double tile_columns = 256;
  const auto columns = static_cast<double>(source.columns().value_or(1));
  const auto element_bytes = static_cast<double>(source.element_bytes());
  const double flops_per_byte = (columns + tile_columns) / element_bytes;
  Task task = passes_over(source, 1, 1 / (1 / convert_rate + flops_per_byte / double_flops));
  task.why_alone = "its products are added in the order of the data";
  return task;
}

Task convert_task(const ooc::Source& source) {
  constexpr double core_rate = 3e9;
  return writing_task(source, core_rate);
}

Task scan_task(const ooc::Source& source) {
  constexpr double core_rate = 3e9;
  return writing_task(source, core_rate);
}

Task rows_task(const ooc::Source& source) {
  constexpr double core_rate = 3e9;
  return writing_task(source, core_rate);
}

Task split_task(const ooc::Source& source) {
  constexpr double core_rate = 0.5e9;
  return writing_task(source, core_rate);
}

Task filter_task(const ooc::Source& source) {
  constexpr double core_rate = 2e9;
  return writing_task(source, core_rate);
}

DeviceRates rates_to_choose_by(const Task& task, const ooc::Options& options) {
  namespace typical = ooc::detail::typical;
  const auto cores = static_cast<double>(ooc::detail::usable_cores());
  const ooc::DeviceFacts cpu = ooc::facts_of(ooc::DeviceKind::cpu);
  const auto lanes = static_cast<double>(ooc::detail::choose_workers(options, cpu).lanes);
  const Ceilings measured = read_ceilings({task.file, "cpu", task.kernel});
  const double disk = measured.disk.value_or(typical::disk);
  const double page_cache = measured.page_cache.value_or(typical::core_copies * cores);
  const double share = std::min(1.0, lanes / cores);
  const double decode = typical::core_decodes * cores;
  return {.cpu = {.disk = disk,
                  .page_cache = page_cache * share,
                  .decode = decode * share,
                  .kernel = measured.kernel.value_or(task.core_rate * cores) * share,
                  .start_seconds = 0},
          .gpu = {.disk = disk,
                  .page_cache = page_cache,
                  .h2d = typical::link,
                  .d2h = typical::link,
                  .decode = decode,
                  .kernel = typical::link,  // the kernels are faster than the link
                  .start_seconds = typical::gpu_start_seconds},
          .cuda = build_facts::has_cuda,
          .any_gpu = ooc::detail::visible_gpus() > 0,
          .host_copies = measured.page_cache};
}

DeviceChoice choose_device(const RunSettings& settings, Task task) {
  if (settings.checksum) task.why_alone = "a checksum is of the bytes in their order";
  const DeviceChoice choice =
      choose_device(settings.devices, task, rates_to_choose_by(task, settings.options));
  const bool names_one = settings.device_word.starts_with("cuda:");
  if (settings.rank_count() == 1 || names_one || choice.devices.size() > 1) return choice;
  if (choice.kind() == ooc::DeviceKind::cpu) return choice;
  return choose_own_gpu(choice, *settings.options.ranks);
}

DeviceChoice choose_device(std::span<const DeviceName> wanted, const Task& task,
                           const DeviceRates& rates) {
  if (wanted.size() > 1) return choose_helpful(wanted, task, rates);
  if (!wanted.empty()) return {{wanted.front()}, {}};
  const std::vector<DeviceName> cpu{{ooc::DeviceKind::cpu}}, gpu{{ooc::DeviceKind::cuda}};
  if (!rates.cuda || !rates.any_gpu) {  // the size of the work does not matter then
    const std::string no_gpu = ooc::why_no_gpu();
    if (!no_gpu.empty()) return {cpu, why_not_gpu(no_gpu)};
  }
  const double cpu_seconds = seconds_of(task.work, ooc::DeviceKind::cpu, rates.cpu);
  const double gpu_seconds = seconds_of(task.work, ooc::DeviceKind::cuda, rates.gpu);
  if (gpu_seconds > as_good_as_equal * cpu_seconds) {
    return {cpu, why_cpu(cpu_seconds, gpu_seconds, rates.gpu.start_seconds.value_or(0))};
  }
  const std::string no_gpu = ooc::why_no_gpu();
  if (!no_gpu.empty()) return {cpu, why_not_gpu(no_gpu)};
  return {gpu, why_gpu(cpu_seconds, gpu_seconds)};
}

std::string_view sharers_of(const DeviceChoice& choice, const RunSettings& settings) {
  if (settings.rank_count() > 1) return "several ranks";
  return choice.devices.size() > 1 ? "several devices" : "";
}

std::string idle_gpu_limit(const DeviceChoice& choice, const RunSettings& settings) {
  const bool is_fold = settings.command == "reduce" || settings.command == "histogram" ||
                       settings.command == "quantile" || settings.command == "top" ||
                       settings.command == "distinct" || settings.command == "hist2d";
  const bool is_idle =
      is_fold && settings.options.device_bytes != 0 &&
      std::ranges::count(choice.devices, ooc::DeviceKind::cuda, &DeviceName::kind) == 0;
  return is_idle ? "--vram has no effect: the CPU computes, without a GPU" : "";
}

std::string device_name(ooc::DeviceKind device, int ordinal) {
  if (device == ooc::DeviceKind::cpu) return "cpu";
  const auto number = static_cast<std::size_t>(ordinal);
  const ooc::detail::CudaFacts cuda = ooc::detail::cuda_facts();
  return ooc::detail::device_name(ordinal, number < cuda.gpus.size() ? cuda.gpus[number].name : "");
}

std::string names_of(const DeviceChoice& choice) {
  std::string names;
  for (const auto& [kind, ordinal] : choice.devices) {
    names += (names.empty() ? "" : " + ") + device_name(kind, ordinal);
  }
  return names;
}

std::vector<std::unique_ptr<ooc::Device>> make_devices(const DeviceChoice& choice) {
  std::vector<std::unique_ptr<ooc::Device>> devices;
  for (const auto& [kind, ordinal] : choice.devices) {
    devices.push_back(ooc::make_device(kind, ordinal));
  }
  return devices;
}

}  // namespace ooc_run
