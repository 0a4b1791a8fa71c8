#include "verdict.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "sizes.hpp"

namespace ooc_run {
namespace {

struct Stage {
  std::string_view bound;  // "disk" of "disk-bound"
  std::string_view name;   // when it is idle; empty if nobody wonders
  double busy;             // 0 to 1, of the time of each who works at it
};

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

double share(double busy, std::size_t workers, double seconds) {
  const double all = seconds * static_cast<double>(std::max<std::size_t>(1, workers));
  return std::clamp(busy / all, 0.0, 1.0);
}

bool is_cached(const ooc::Stats& stats) {
  return stats.page_cache_fraction.value_or(0) > 0.5;
}

/// The kernel goes first: who is as busy as the disk is not bound by it.
std::vector<Stage> stages_of(const ooc::Stats& stats, ooc::DeviceKind device) {
  const auto of_streams = [&](const ooc::StageTimes& stage) {
    return share(stage.busy, stats.streams, stats.seconds);
  };
  const bool writes = stats.bytes_written != 0;
  const bool disk_only_reads = !is_cached(stats) && !writes;
  std::vector<Stage> stages{
      {"kernel", device == ooc::DeviceKind::cuda ? "GPU" : "CPU kernel", of_streams(stats.kernel)},
      {"copy", "", of_streams(stats.h2d)},
      {disk_only_reads ? "disk" : "read", disk_only_reads ? "disk" : "reading",
       share(stats.disk.busy, 1, stats.seconds)}};
  if (!writes) return stages;
  const double write_busy = stats.write.busy + stats.publish_seconds;
  stages.push_back({"copy-back", "", of_streams(stats.d2h)});
  stages.push_back({"write", "writing", share(write_busy, 1, stats.seconds)});
  return stages;
}

std::string rates_of(const ooc::Stats& stats) {
  const double bytes = static_cast<double>(stats.bytes) * static_cast<double>(stats.passes);
  std::string text = format_rate(bytes / stats.seconds);
  if (is_cached(stats)) text += " from the page cache";
  if (stats.bytes_written == 0) return text;
  const auto bytes_written = static_cast<double>(stats.bytes_written);
  return text + fmt::format(", {} written", format_rate(bytes_written / stats.seconds));
}

}  // namespace

std::string verdict(const ooc::Stats& stats, ooc::DeviceKind device) {
  if (stats.seconds <= 1 || stats.partial) return {};
  const std::vector<Stage> stages = stages_of(stats, device);
  const Stage& bound = *std::ranges::max_element(stages, {}, &Stage::busy);
  const bool bounds = bound.busy >= 0.5;
  std::string text = fmt::format("no stage bounds the run: {}", rates_of(stats));
  if (bounds) {
    text = fmt::format("{}-bound: {}, busy {}", bound.bound, rates_of(stats), percent(bound.busy));
  }
  text += " (ceiling not measured)";
  std::string_view separator = "; ";
  for (const Stage& stage : stages) {
    if (stage.name.empty() || (bounds && &stage == &bound)) continue;
    text += fmt::format("{}{} idle {}", separator, stage.name, percent(1 - stage.busy));
    separator = ", ";
  }
  return text;
}

}  // namespace ooc_run
