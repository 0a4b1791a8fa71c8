#include "doctor/doctor.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ooc/detail/device/cuda_facts.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/detail/kernels/blas.hpp>
#include <ooc/detail/kernels/simd.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/device.hpp>
#include <vector>

#include "cli/build_facts.hpp"
#include "cli/fact_table.hpp"
#include "cli/remedies.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "dataset/file_facts.hpp"
#include "doctor/checks.hpp"
#include "draw/rsvg.hpp"
#include "draw/svg.hpp"
#include "machine/environment.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

/// True if a file can be created in the directory. If it does not exist, its nearest existing
/// parent is checked.
bool is_writable(std::filesystem::path directory) {
  while (directory.has_relative_path() && access(directory.c_str(), F_OK) != 0) {
    directory = directory.parent_path();
  }
  std::error_code failed;
  return std::filesystem::is_directory(directory, failed) &&
         access(directory.c_str(), W_OK | X_OK) == 0;
}

/// Tries direct writes to a temporary file without a name.
void try_in_directory(LocationFacts& location) {
  try {
    constexpr bool replace = true;  // never committed, so a file of this name is safe
    const ooc::detail::OutputFile file(std::filesystem::path(location.path) / "ooc-doctor",
                                       ooc::detail::page_bytes, replace);
    location.why_not_direct = file.why_not_direct();
    location.note = file.note();
  } catch (const ooc::Error& error) {
    location.known = false;
    location.why_not_direct = error.what();
    if (!error.details().why.empty()) location.why_not_direct += "; " + error.details().why;
    location.hint = error.details().hint;
  }
}

LocationFacts describe_location(const std::string& path) {
  require_local(path, "doctor");
  LocationFacts location{.path = path, .file_system = file_system_of(path)};
  location.disk = block_device_of(path);
  location.in_memory = is_tmpfs(path);
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) {
    try_in_directory(location);
    return location;
  }
  const ooc::detail::File file = ooc::detail::File::open(path);
  location.why_not_direct = file.why_not_direct();
  return location;
}

BlasFacts find_blas() {
  try {
    return {.library = ooc::detail::cpu_blas()};
  } catch (const ooc::Error& error) {
    return {.why = error.what(), .hint = in_terms_of_options(error, "doctor").details().hint};
  }
}

/// Runs rsvg-convert. Returns why it does not work; empty if it does.
std::string why_no_png() {
  try {
    png_of(Svg(1, 1, {}).document(), "PNG");
  } catch (const ooc::Error& error) {
    return fmt::format("{} ({})", error.what(), error.details().why);
  }
  return {};
}

std::vector<HealthCheck> examine(const std::string& path, const RunSettings& settings) {
  const auto threads = thread_limit();  // first: the checks start threads
  const LocationFacts location = describe_location(path);
  const ooc::detail::CudaFacts cuda = ooc::detail::cuda_facts();
  const UringFacts uring = uring_facts();
  const ProcessLimits process = process_limits();
  const GroupLimits group = group_limits();
  const std::size_t cores = ooc::detail::usable_cores();
  // Without --device it may be either. Assume the CPU, which takes more threads.
  const ooc::detail::Workers workers = ooc::detail::choose_workers(
      settings.options, ooc::facts_of(settings.device_kind().value_or(ooc::DeviceKind::cpu)));
  const std::filesystem::path cache = ceilings_path();
  const auto ordinal = static_cast<std::size_t>(settings.ordinal());
  const bool wants_gpu = settings.device_kind() == ooc::DeviceKind::cuda;
  // The key of this device in the file of ceilings.
  const std::string device = ordinal < cuda.gpus.size()
                                 ? fmt::format("cuda:{} {}", ordinal, cuda.gpus[ordinal].name)
                                 : "cpu";

  std::vector<HealthCheck> checks{
      check_gpu(cuda, wants_gpu ? std::optional(ordinal) : std::nullopt)};
  if (cuda.built_for != 0 && cuda.driver_allows != 0) checks.push_back(check_driver(cuda));
  for (const ooc::detail::GpuFacts& gpu : cuda.gpus) {
    checks.push_back(check_link(gpu.name, pcie_link(gpu.pci_address)));
  }
  if (ordinal < cuda.gpus.size() && has_many_numa_nodes()) {
    const auto disk = location.disk ? location.disk->numa_node : std::nullopt;
    checks.push_back(check_numa(numa_node_of(cuda.gpus[ordinal].pci_address), disk));
  }
  checks.push_back(
      check_processor(processor_name(), cores, ooc::detail::name_of(ooc::detail::best_simd())));
  checks.push_back(check_blas(find_blas()));
  checks.push_back(check_memory(memory_bytes(), ooc::available_host_bytes()));
  checks.push_back(check_huge_pages(huge_pages()));
  checks.push_back(check_container(container_name(), group));
  checks.push_back(check_threads(threads, workers, cores));
  checks.push_back(check_open_files(process.open_files));
  checks.push_back(check_kernel(kernel_release()));
  checks.push_back(check_io_uring(uring));
  if (uring.usable) checks.push_back(check_locked_memory(uring, process.locked_bytes));
  checks.push_back(check_direct(location));
  checks.push_back(check_ceilings(cache, !cache.empty() && is_writable(cache.parent_path()),
                                  read_ceilings({path, device, {}}), why_no_ceilings()));
  checks.push_back(check_png(why_no_png()));
  checks.push_back(check_parts(optional_parts()));
  return checks;
}

std::size_t count_of(const std::vector<HealthCheck>& checks, HealthCheck::State state) {
  return static_cast<std::size_t>(std::ranges::count(checks, state, &HealthCheck::state));
}

Json describe(const std::vector<HealthCheck>& checks) {
  Json list = Json::array();
  for (const HealthCheck& check : checks) {
    list.push_back({{"name", check.name},
                    {"state", name_of(check.state)},
                    {"facts", check.facts},
                    {"fix", check.fix.empty() ? Json(nullptr) : Json(check.fix)},
                    {"values", check.values}});
  }
  return {{"ok", count_of(checks, HealthCheck::State::ok)},
          {"warnings", count_of(checks, HealthCheck::State::warn)},
          {"failures", count_of(checks, HealthCheck::State::fail)},
          {"checks", list}};
}

std::string_view label(HealthCheck::State state) {
  constexpr std::array<std::string_view, 3> labels{"OK  ", "WARN", "FAIL"};
  return labels[static_cast<std::size_t>(state)];
}

std::string coloured(std::string_view text, HealthCheck::State state) {
  constexpr std::array<std::string_view, 3> colours{"32", "33", "1;31"};
  return fmt::format("\x1b[{}m{}\x1b[0m", colours[static_cast<std::size_t>(state)], text);
}

std::string show(const std::vector<HealthCheck>& checks, const Terminal& terminal) {
  std::string text = fmt::format("ooc-run {}, {}\n\n", build_facts::version, build_facts::cuda);
  for (const HealthCheck& check : checks) {
    const std::string first = fmt::format("  {}  {:<10}  ", label(check.state), check.name);
    std::string lines = wrap(first, printable(check.facts), terminal.columns);
    if (!check.fix.empty()) {
      lines += wrap(std::string(first.size(), ' ') + "-> ", printable(check.fix), terminal.columns);
    }
    if (terminal.colour) {
      constexpr std::size_t begin = 2, length = 4;  // position of the label in the line
      lines.replace(begin, length, coloured(label(check.state), check.state));
    }
    text += lines;
  }
  const std::size_t warnings = count_of(checks, HealthCheck::State::warn);
  const std::size_t failures = count_of(checks, HealthCheck::State::fail);
  text +=
      failures != 0 ? fmt::format("\nRuns will fail here: {}.\n", format_count(failures, "failure"))
      : warnings != 0 ? fmt::format("\nRuns will work; {}.\n", format_count(warnings, "warning"))
                      : "\nNothing is missing.\n";
  return text;
}

}  // namespace

Outcome run(const DoctorRequest& request, const Interrupt& /*interrupt*/) {
  const RunSettings& settings = request.run;
  const std::vector<HealthCheck> checks =
      examine(settings.files.empty() ? "." : settings.files.front(), settings);
  Outcome outcome;
  outcome.document = settings.output.json ? document("doctor", nullptr, describe(checks), nullptr)
                                          : show(checks, describe_terminal(STDOUT_FILENO));
  const auto failed = std::ranges::find(checks, HealthCheck::State::fail, &HealthCheck::state);
  if (failed != checks.end()) {
    outcome.fail({failed->kind,
                  failed->name + ": " + failed->facts,
                  {.why = "runs will end with this", .hint = failed->fix}});
  }
  return outcome;
}

}  // namespace ooc_run
