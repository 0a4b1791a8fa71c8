#include "bench/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/source_access.hpp>

#include "cli/build_facts.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "machine/environment.hpp"
#include "measure/figures.hpp"

namespace ooc_run {
namespace {

using ooc::detail::KernelKind;
using ooc::detail::measure::spread_of;

constexpr double bytes_per_gb = 1e9;

Json json_spread(const std::vector<double>& figures) {
  return ooc::detail::measure::describe(spread_of(figures));
}

/// Returns the best row, with all rows under "sweep" if there are several, or why it was skipped.
/// `setting` is the key of the value in which the rows differ.
Json json_ceiling(const CeilingRows& ceiling, const char* setting) {
  if (!ceiling.skipped.empty()) return {{"skipped", ceiling.skipped}};
  const auto json_row = [setting](const RateRow& row) {
    Json json = Json::object();
    if (row.setting != 0) json[setting] = row.setting;
    if (row.depth != 0) json["in_flight"] = row.depth;
    json["bytes_per_second"] = json_spread(row.bytes_per_second);
    return json;
  };
  Json json = json_row(ceiling.rows[ceiling.best]);
  if (ceiling.rows.size() == 1) return json;
  for (const RateRow& row : ceiling.rows) json["sweep"].push_back(json_row(row));
  return json;
}

std::vector<double> rates_of(const PassRow& row) {
  std::vector<double> rates;
  for (const double seconds : row.seconds) {
    rates.push_back(static_cast<double>(row.bytes) / seconds);
  }
  return rates;
}

std::vector<double> cpu_per_gb(const PassRow& row) {
  std::vector<double> costs;
  for (const double seconds : row.cpu_seconds) {
    costs.push_back(seconds * bytes_per_gb / static_cast<double>(row.bytes));
  }
  return costs;
}

Json json_pass(const PassRow& row) {
  if (!row.skipped.empty()) return {{"name", row.name}, {"skipped", row.skipped}};
  Json json{{"name", row.name},
            {"bytes", row.bytes},
            {"chunk_bytes", row.chunk_bytes},
            {"engine", row.engine},
            {"direct", row.direct},
            {"page_cache_fraction_before", json_number(row.cached_before)},
            {"page_cache_fraction_after", json_number(row.cached_after)},
            {"seconds", json_spread(row.seconds)},
            {"bytes_per_second", json_spread(rates_of(row))},
            {"cpu_seconds_per_gb", json_spread(cpu_per_gb(row))},
            {"limit_bytes_per_second", nullptr},
            {"limiting_stage", nullptr},
            {"fraction_of_limit", nullptr}};
  if (row.limit) {
    json["limit_bytes_per_second"] = row.limit->bytes_per_second;
    json["limiting_stage"] = row.limit->stage;
    json["fraction_of_limit"] = row.bytes_per_second() / row.limit->bytes_per_second;
  }
  return json;
}

Json json_environment(const BenchResult& result, const std::string& path) {
  const auto extents = extents_of(path).count;
  return {{"machine", machine_name()},
          {"cores", result.cores},
          {"memory_bytes", memory_bytes()},
          {"kernel", kernel_release()},
          {"file_system", file_system_of(path)},
          {"extents", extents ? Json(*extents) : Json(nullptr)},
          {"huge_pages", huge_pages()},
          {"gpu_driver", gpu_driver()},
          {"version", build_facts::version},
          {"compiler", build_facts::compiler},
          {"cuda", build_facts::cuda},
          {"date", today()},
          {"command", command_line()}};
}

/// Returns "1 MiB" or "512 KiB"; fractions are cut off.
std::string size_name(std::size_t bytes) {
  return bytes < ooc::detail::MiB ? fmt::format("{} KiB", bytes / ooc::detail::KiB)
                                  : fmt::format("{} MiB", bytes / ooc::detail::MiB);
}

std::string ceiling_line(std::string_view name, const CeilingRows& ceiling,
                         const std::string& how) {
  if (!ceiling.skipped.empty()) return fmt::format("  {:<24} {}\n", name, ceiling.skipped);
  const auto rate = spread_of(ceiling.rows[ceiling.best].bytes_per_second);
  return fmt::format("  {:<24} {:>10} {:>10} {:>10}  {}\n", name, format_rate(rate.median),
                     format_rate(rate.min), format_rate(rate.max), how);
}

std::string ceiling_lines(const BenchResult& result) {
  const auto best = [](const CeilingRows& ceiling) {
    return ceiling.rows.empty() ? RateRow{} : ceiling.rows[ceiling.best];
  };
  const auto chunks = [&](const CeilingRows& ceiling) {
    return "chunks of " + size_name(best(ceiling).setting);
  };
  const bool gpu = result.kind == ooc::DeviceKind::cuda;
  const std::string where = gpu ? "on the device" : format_count(result.cores, "core");
  std::string text = fmt::format("  {:<24} {:>10} {:>10} {:>10}\n", "ceilings, each alone",
                                 "median", "min", "max");
  text += ceiling_line(
      "disk, direct", result.disk,
      fmt::format("{} x {}", size_name(best(result.disk).setting), best(result.disk).depth));
  text += ceiling_line("page cache", result.page_cache,
                       format_count(best(result.page_cache).setting, "thread"));
  if (gpu) {
    text += ceiling_line("host to device", result.h2d, chunks(result.h2d));
    text += ceiling_line("device to host", result.d2h, chunks(result.d2h));
  }
  for (const KernelKind kind : ooc::detail::all_kernels) {
    text += ceiling_line(name_of(kind), result.kernel(kind), where);
  }
  return text;
}

std::string pass_line(const PassRow& row) {
  if (!row.skipped.empty()) return fmt::format("  {:<24} {}\n", row.name, row.skipped);
  const auto rate = spread_of(rates_of(row));
  const std::string of_limit =
      row.limit
          ? fmt::format("{:.0f} %", 100 * row.bytes_per_second() / row.limit->bytes_per_second)
          : "-";
  return fmt::format("  {:<24} {:>10} {:>10} {:>10} {:>8} {:>8.3f}\n", row.name,
                     format_rate(rate.median), format_rate(rate.min), format_rate(rate.max),
                     of_limit, spread_of(cpu_per_gb(row)).median);
}

std::string sweep_lines(const BenchResult& result) {
  if (result.sweep.empty()) return {};
  std::string text =
      fmt::format("\n  {:<24} {:>10} {:>10} {:>10}\n", "by size", "median", "min", "max");
  for (const SweepRow& row : result.sweep) {
    const auto rate = spread_of(row.bytes_per_second);
    const std::string_view what = row.what == "in_flight" ? "in flight" : row.what;
    const std::string name =
        fmt::format("{}, {} {}", row.cold ? "cold" : "warm", what, size_name(row.setting_bytes));
    text += fmt::format("  {:<24} {:>10} {:>10} {:>10}\n", name, format_rate(rate.median),
                        format_rate(rate.min), format_rate(rate.max));
  }
  return text;
}

std::string environment_lines(const BenchResult& result, const std::string& path) {
  const auto extents = extents_of(path).count;
  const std::string pieces = extents ? ", in " + format_count(*extents, "extent") : "";
  const std::string pages = huge_pages().empty() ? "none" : huge_pages();
  return fmt::format(
      "  start-up   device {}, pool {}, first chunk {}\n"
      "  machine    {}\n"
      "  system     Linux {}, huge pages {}, ooc-run {}\n"
      "  file       on {}{}\n"
      "  command    {}\n",
      format_seconds(result.startup.device_seconds), format_seconds(result.startup.pool_seconds),
      format_seconds(result.startup.first_chunk_seconds), machine_name(), kernel_release(), pages,
      build_facts::version, file_system_of(path), pieces, printable(command_line()));
}

}  // namespace

Json describe_bench(const BenchResult& result, const std::string& path) {
  Json passes = Json::array();
  for (const PassRow& row : result.passes) passes.push_back(json_pass(row));
  Json sweep = Json::array();
  for (const SweepRow& row : result.sweep) {
    sweep.push_back({{"what", row.what},
                     {"state", row.cold ? "cold" : "warm"},
                     {"setting_bytes", row.setting_bytes},
                     {"bytes_per_second", json_spread(row.bytes_per_second)}});
  }
  Json ceilings{{"disk", json_ceiling(result.disk, "block_bytes")},
                {"page_cache", json_ceiling(result.page_cache, "threads")},
                {"h2d", json_ceiling(result.h2d, "chunk_bytes")},
                {"d2h", json_ceiling(result.d2h, "chunk_bytes")}};
  for (const KernelKind kind : ooc::detail::all_kernels) {
    std::string key(name_of(kind));
    std::ranges::replace(key, ' ', '_');
    ceilings[key] = json_ceiling(result.kernel(kind), "");
  }
  return {{"device", result.device},
          {"operator", "histogram u1"},
          {"runs", result.runs},
          {"disk_part_bytes", result.part_bytes},
          {"warm_bytes", result.warm_bytes},
          {"ceilings", ceilings},
          {"passes", passes},
          {"startup",
           {{"device_seconds", result.startup.device_seconds},
            {"pool_seconds", result.startup.pool_seconds},
            {"first_chunk_seconds", result.startup.first_chunk_seconds}}},
          {"sweep", sweep},
          {"environment", json_environment(result, path)}};
}

std::string bench_text(const BenchResult& result, const std::string& path) {
  std::string text =
      fmt::format("{}, medians of {}\n\n", result.device, format_count(result.runs, "run"));
  text += ceiling_lines(result);
  text += fmt::format("\n  {:<24} {:>10} {:>10} {:>10} {:>8} {:>8}\n", "histogram u1 of the file",
                      "median", "min", "max", "of limit", "CPU s/GB");
  for (const PassRow& row : result.passes) text += pass_line(row);
  text += sweep_lines(result);
  return text + "\n" + environment_lines(result, path);
}

}  // namespace ooc_run
