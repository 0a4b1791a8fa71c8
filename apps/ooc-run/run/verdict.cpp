#include "run/verdict.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cli/sizes.hpp"
#include "rates/prediction.hpp"

namespace ooc_run {
namespace {

constexpr double least_bound = 0.5;    // a stage that is busy for less does not bound the run
constexpr double near_ceiling = 0.85;  // ceilings vary by about 15 % from minute to minute
constexpr double outdone = 1.05;       // rate over ceiling from which the ceiling is out of date
constexpr double worth_a_word = 1.05;  // smaller gains are not mentioned
constexpr double long_startup = 0.1;   // fraction of the run
constexpr double whole_factor = 3;     // larger factors are printed without decimals
constexpr double wholly = 0.99;        // a larger fraction of the input counts as all of it

struct BusyStage {
  std::string_view bound;  // "disk" of "disk-bound"
  std::string_view idle;   // its name when it is idle; empty if it is not mentioned
  std::string_view name;   // its name when it is busy
  std::string_view remedy;
  double busy = 0;                  // 0 to 1, of the time of all its workers
  std::optional<double> ceiling{};  // bytes of the input per second
};

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

std::string factor(double value) {
  return value < whole_factor ? fmt::format("{:.1f}x", value) : fmt::format("{:.0f}x", value);
}

/// Returns the time of the run, without a long start-up, which does not depend on the stages.
double seconds_of(const ooc::Stats& stats) {
  const double idle = idle_startup_seconds(stats);
  const bool is_long = idle > long_startup * stats.timing.seconds && idle < stats.timing.seconds;
  return is_long ? stats.timing.seconds - idle : stats.timing.seconds;
}

double share(double busy, std::size_t workers, double seconds) {
  const double all = seconds * static_cast<double>(std::max<std::size_t>(1, workers));
  return std::clamp(busy / all, 0.0, 1.0);
}

bool is_from_disk(const ooc::Stats& stats) {
  return disk_share(stats) >= 0.5;
}

bool has_holes(const ooc::Stats& stats) {
  return stats.layout.hole_fraction > 1 - wholly;
}

/// Returns the place that most of the input comes from.
std::string_view origin_of(const ooc::Stats& stats) {
  if (stats.layout.is_produced) return "the input";
  if (is_remote(stats)) return "the server";
  if (is_from_disk(stats)) return "the disk";
  return stats.layout.hole_fraction > cached_share(stats) ? "memory" : "the page cache";
}

/// Returns bytes of the input per second, counted in each pass that reads them.
double reading_rate_of(const ooc::Stats& stats) {
  return bytes_read(stats) / seconds_of(stats);
}

/// Returns the ceiling of reading the input: its parts on the disk and in the page cache are read
/// concurrently. Empty if a part of it is holes, because the rate of those is not measured.
std::optional<double> source_ceiling(const ooc::Stats& stats, const Ceilings& ceilings) {
  if (has_holes(stats) || stats.layout.is_produced || is_remote(stats)) return {};
  const double cached = cached_share(stats);
  if (cached > wholly) return ceilings.page_cache;
  if (cached < 1 - wholly) return ceilings.disk;
  if (!ceilings.disk || !ceilings.page_cache) return {};
  return 1 / std::max((1 - cached) / *ceilings.disk, cached / *ceilings.page_cache);
}

/// Returns the stage of decoding, which is done by the threads that read.
BusyStage decode_stage(const ooc::Stats& stats) {
  return {"decode", "", "decoding", "more cores",
          share(stats.timing.decode.busy, 1, seconds_of(stats))};
}

/// Returns the stages of a run. The kernel is first, so that it wins a tie: if it is as busy as the
/// disk, it is the bottleneck.
std::vector<BusyStage> stages_of(const ooc::Stats& stats, ooc::DeviceKind device,
                                 const Ceilings& ceilings) {
  const double seconds = seconds_of(stats);
  const auto of_streams = [&](const ooc::StageTimes& stage) {
    return share(stage.busy, stats.layout.streams, seconds);
  };
  const bool gpu = device == ooc::DeviceKind::cuda;
  const bool writes = stats.outcome.bytes_written != 0;
  const bool from_disk = is_from_disk(stats);
  const bool disk_only_reads = from_disk && !writes;
  const bool decodes = stats.layout.decodes;
  const BusyStage decode = decode_stage(stats);
  const double reading =
      std::max(0.0, share(stats.timing.disk.busy, 1, seconds) - (decodes ? decode.busy : 0));
  if (stats.layout.reads_inline) {  // every core copies, hashes and computes in turn
    const double hashing = share(stats.timing.checksum_seconds, stats.layout.streams, seconds);
    BusyStage cores{"CPU", "", "the CPU", "more cores",
                    reading + hashing + of_streams(stats.timing.kernel)};
    if (decodes) return {cores, decode};
    if (ceilings.page_cache && ceilings.kernel) {
      cores.ceiling = 1 / (1 / *ceilings.page_cache + 1 / *ceilings.kernel);
    }
    return {cores};
  }
  std::vector<BusyStage> stages{
      {"kernel", gpu ? "GPU" : "CPU kernel", "the kernel", gpu ? "a faster GPU" : "more cores",
       of_streams(stats.timing.kernel), ceilings.kernel},
      {"copy", "", "the link", "a faster link", of_streams(stats.timing.h2d), ceilings.h2d},
      {disk_only_reads ? "disk" : "read", disk_only_reads ? "disk" : "reading", origin_of(stats),
       from_disk ? "a faster disk" : "faster memory", reading, source_ceiling(stats, ceilings)}};
  if (stats.layout.is_produced) {
    stages.back().bound = "input";
    stages.back().remedy = "faster input";
  } else if (is_remote(stats)) {
    stages.back().bound = "server";
    stages.back().remedy = "a faster server or connection";
  }
  if (decodes) {
    stages.back().ceiling.reset();  // that of files which are read as they are
    stages.push_back(decode);
  }
  if (!writes) return stages;
  const double write_busy = stats.timing.write.busy + stats.timing.commit_seconds;
  stages.push_back(
      {"copy-back", "", "the link to the host", "a faster link", of_streams(stats.timing.d2h)});
  if (ceilings.d2h) {
    stages.back().ceiling = *ceilings.d2h * reading_rate_of(stats) * seconds /
                            static_cast<double>(stats.outcome.bytes_written);
  }
  stages.push_back({"write", "writing", "the output's disk", "a faster disk to write to",
                    share(write_busy, 1, seconds)});
  return stages;
}

/// Returns the stage of the checksum. It may bound a run, because only one stream at a time hashes.
BusyStage checksum_stage(const ooc::Stats& stats) {
  return {"checksum", "", "the checksum", "a run without --checksum",
          share(stats.timing.checksum_seconds, 1, seconds_of(stats))};
}

/// Returns, for example, "6.80 of 6.95 GB/s (98 %)", or only the rate if there is no ceiling.
std::string rates_of(const ooc::Stats& stats, std::optional<double> ceiling) {
  std::string text = format_rate(reading_rate_of(stats));
  if (ceiling) {
    const std::string most = format_rate(*ceiling);
    const std::string_view unit = std::string_view(most).substr(most.find(' '));
    if (text.ends_with(unit)) text.resize(text.size() - unit.size());
    text += fmt::format(" of {} ({})", most, percent(reading_rate_of(stats) / *ceiling));
  }
  if (stats.outcome.passes > 1) {
    text += fmt::format(" in {} passes", stats.outcome.passes);
    if (stats.outcome.resident_bytes != 0) text += ", less what the GPU has kept";
  }
  const double cached = cached_share(stats);
  if (cached > wholly) {
    text += " from the page cache";
  } else if (cached > 1 - wholly) {
    text += fmt::format(", {} of it from the page cache", percent(cached));
  }
  if (has_holes(stats) && cached <= wholly) {
    text += fmt::format(", {} of it holes, which are on no disk",
                        percent(stats.layout.hole_fraction * (1 - cached)));
  }
  if (stats.layout.decodes) {
    const auto stored_bytes = static_cast<double>(stats.outcome.stored_bytes);
    text += fmt::format(", {} stored", format_rate(stored_bytes / seconds_of(stats)));
  }
  if (stats.outcome.bytes_written == 0) return text;
  const auto bytes_written = static_cast<double>(stats.outcome.bytes_written);
  return text + fmt::format(", {} written", format_rate(bytes_written / seconds_of(stats)));
}

/// Returns the stage with the lowest known ceiling apart from `bound`. Null if there is none.
const BusyStage* next_of(const std::vector<BusyStage>& stages, const BusyStage& bound) {
  const BusyStage* next = nullptr;
  for (const BusyStage& stage : stages) {
    if (&stage == &bound || !stage.ceiling) continue;
    if (next == nullptr || *stage.ceiling < *next->ceiling) next = &stage;
  }
  return next;
}

/// Returns advice on a stage that bounds the run and has a known ceiling.
std::string advice(const std::vector<BusyStage>& stages, const BusyStage& bound, double rate) {
  if (rate > outdone * *bound.ceiling) {
    return "; the stored ceiling is out of date: ooc-run bench FILE measures it anew";
  }
  if (rate < near_ceiling * *bound.ceiling) {
    return fmt::format("; alone {} gives {} as much", bound.name, factor(*bound.ceiling / rate));
  }
  const BusyStage* const next = next_of(stages, bound);
  if (next == nullptr) {
    return fmt::format("; more streams will not help, {} would", bound.remedy);
  }
  const double gain = *next->ceiling / rate;
  if (gain < worth_a_word) {
    return fmt::format("; more streams will not help, nor {} alone: {} gives no more", bound.remedy,
                       next->name);
  }
  return fmt::format("; more streams will not help, {} would (up to {})", bound.remedy,
                     factor(gain));
}

std::string idle_times(const std::vector<BusyStage>& stages, const BusyStage* bound) {
  std::string text;
  for (const BusyStage& stage : stages) {
    if (stage.idle.empty() || &stage == bound) continue;
    text += fmt::format("{}{} idle {}", text.empty() ? "; " : ", ", stage.idle,
                        percent(1 - stage.busy));
  }
  return text;
}

std::string title_of(const ooc::DeviceShare& share) {
  return share.device;
}
std::string title_of(const ooc::RankShare& share) {
  return fmt::format("rank {}", share.rank);
}

/// Describes data that devices or ranks have shared: the fraction of each, their total rate, and
/// the longest idle time at the end.
template <class Share>
std::string shares(const ooc::Stats& stats, std::span<const Share> all, std::string_view kind) {
  std::string text;
  double idle = 0;
  double bytes = 0;
  for (const Share& share : all) bytes += static_cast<double>(share.bytes);
  constexpr std::size_t most_named = 8;
  for (const Share& share : all.first(std::min(all.size(), most_named))) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", title_of(share),
                        percent(static_cast<double>(share.bytes) / bytes));
  }
  if (all.size() > most_named) text += ", ...";
  for (const Share& share : all) idle = std::max(idle, share.idle_seconds);
  return fmt::format("shared: {} by {} {} ({}); idle at the end {:.1f} %",
                     format_rate(bytes_read(stats) / stats.timing.seconds), all.size(), kind, text,
                     100 * idle / stats.timing.seconds);
}

}  // namespace

std::string verdict(const ooc::Stats& stats, ooc::DeviceKind device, const Ceilings& ceilings) {
  if (stats.timing.seconds <= 1 || stats.outcome.partial) return {};
  if (stats.ranks.size() > 1) return shares<ooc::RankShare>(stats, stats.ranks, "ranks");
  if (stats.devices.size() > 1) return shares<ooc::DeviceShare>(stats, stats.devices, "devices");
  std::vector<BusyStage> stages = stages_of(stats, device, ceilings);
  if (stats.timing.checksum_seconds > 0) stages.push_back(checksum_stage(stats));
  const BusyStage& busiest = *std::ranges::max_element(stages, {}, &BusyStage::busy);
  const BusyStage* const bound = busiest.busy >= least_bound ? &busiest : nullptr;
  const bool unmeasured = ceilings == Ceilings{} && !stats.layout.is_produced;
  const std::string ceiling = unmeasured ? " (ceilings not measured: ooc-run bench FILE)" : "";
  if (bound == nullptr) {
    return fmt::format("no stage bounds the run: {}{}{}", rates_of(stats, {}), ceiling,
                       idle_times(stages, bound));
  }
  if (!bound->ceiling) {
    const std::string help = unmeasured ? "" : fmt::format("; {} would help", bound->remedy);
    return fmt::format("{}-bound: {}, busy {}{}{}{}", bound->bound, rates_of(stats, {}),
                       percent(bound->busy), ceiling, idle_times(stages, bound), help);
  }
  return fmt::format("{}-bound: {}{}{}", bound->bound, rates_of(stats, bound->ceiling),
                     idle_times(stages, bound), advice(stages, *bound, reading_rate_of(stats)));
}

}  // namespace ooc_run
