#include "verdict.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "sizes.hpp"

namespace ooc_run {
namespace {

struct Stage {
  std::string_view bound;  // "disk" of "disk-bound"
  std::string_view name;
  double busy;  // 0 to 1, of the time of each who works at it
};

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

std::string idle(const Stage& stage) {
  return percent(1 - stage.busy);
}

double share(const ooc::StageTimes& stage, std::size_t workers, double seconds) {
  const double all = seconds * static_cast<double>(std::max<std::size_t>(1, workers));
  return std::clamp(stage.busy / all, 0.0, 1.0);
}

}  // namespace

std::string verdict(const ooc::Stats& stats, ooc::DeviceKind device) {
  if (stats.seconds <= 1 || stats.partial) return {};
  const bool cached = stats.page_cache_fraction.value_or(0) > 0.5;
  const Stage disk{cached ? "read" : "disk", cached ? "reading" : "disk",
                   share(stats.disk, 1, stats.seconds)};
  const Stage copy{"copy", "copying", share(stats.h2d, stats.streams, stats.seconds)};
  const Stage kernel{"kernel", device == ooc::DeviceKind::cuda ? "GPU" : "CPU kernel",
                     share(stats.kernel, stats.streams, stats.seconds)};
  const double bytes = static_cast<double>(stats.bytes) * static_cast<double>(stats.passes);
  const std::string rate =
      format_rate(bytes / stats.seconds) + (cached ? " from the page cache" : "");

  // The kernel goes first: who is as busy as the disk is not bound by it.
  const std::array stages{kernel, copy, disk};
  const Stage& bound = *std::ranges::max_element(stages, {}, &Stage::busy);
  if (bound.busy < 0.5) {
    return fmt::format("no stage bounds the run: {} (ceiling not measured); {} idle {}, {} idle {}",
                       rate, disk.name, idle(disk), kernel.name, idle(kernel));
  }
  const Stage& other = bound.bound == kernel.bound ? disk : kernel;
  return fmt::format("{}-bound: {}, busy {} (ceiling not measured); {} idle {}", bound.bound, rate,
                     percent(bound.busy), other.name, idle(other));
}

}  // namespace ooc_run
