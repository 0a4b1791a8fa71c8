#include "rates/prediction.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ooc/detail/sizing/io_config.hpp>

#include "cli/sizes.hpp"
#include "machine/environment.hpp"

namespace ooc_run {
namespace {

struct StageName {
  std::string_view name;    // in JSON
  std::string_view spoken;  // in messages
  bool is_benched;          // ooc-run bench measures it for every run
};

constexpr std::array stage_names{
    StageName{"start", "the start", true},
    StageName{"disk", "the disk", true},
    StageName{"page_cache", "the page cache", true},
    StageName{"decode", "decoding", false},
    StageName{"h2d", "the link", true},
    StageName{"kernel", "the kernel", false},
    StageName{"cores", "the cores", false},
    StageName{"d2h", "the link to the host", true},
    StageName{"checksum", "the checksum", false},
    StageName{"write", "writing", false},
};

const StageName& find_stage(std::string_view name) {
  return *std::ranges::find(stage_names, name, &StageName::name);
}

/// Accumulates a prediction, one stage at a time.
class Predictor {
 public:
  /// Returns the seconds that a stage takes alone. Without a rate, notes the stage as unmeasured
  /// and returns 0.
  double alone(std::string_view stage, double bytes, std::optional<double> rate) {
    if (bytes == 0) return 0;
    if (rate) return bytes / *rate;
    leave_out(stage);
    return 0;
  }

  void leave_out(std::string_view stage) { prediction_.unmeasured.push_back(stage); }

  /// Adds a stage that overlaps with all others.
  void add(std::string_view stage, double seconds) {
    if (seconds > prediction_.seconds) {
      prediction_.seconds = seconds;
      prediction_.stage = stage;
    }
  }

  /// Adds the start-up, which comes before all stages.
  void start_with(std::optional<double> seconds) {
    if (!seconds) return leave_out("start");
    if (*seconds > prediction_.seconds) prediction_.stage = "start";
    prediction_.seconds += *seconds;
  }

  std::optional<Prediction> result() {
    if (prediction_.seconds == 0 && prediction_.is_lower_bound()) return {};
    return std::move(prediction_);
  }

 private:
  Prediction prediction_;
};

}  // namespace

double bytes_used(const ooc::Stats& passes) {
  return static_cast<double>(passes.outcome.bytes) * static_cast<double>(passes.outcome.passes) -
         static_cast<double>(passes.outcome.resumed_bytes);
}

double bytes_read(const ooc::Stats& passes) {
  return bytes_used(passes) - static_cast<double>(passes.outcome.resident_bytes);
}

double cached_share(const ooc::Stats& pass) {
  const bool past_the_cache = pass.layout.direct && pass.layout.in_order;
  return past_the_cache ? 0 : pass.layout.page_cache_fraction.value_or(0);
}

bool is_remote(const ooc::Stats& pass) {
  return pass.layout.engine == "http";
}

double disk_share(const ooc::Stats& pass) {
  if (pass.layout.is_produced || is_remote(pass)) return 0;
  return (1 - cached_share(pass)) * (1 - pass.layout.hole_fraction);
}

double idle_startup_seconds(const ooc::Stats& pass) {
  const bool reads_meanwhile = pass.layout.read_ahead_bytes != 0 || pass.layout.is_produced;
  if (!reads_meanwhile) return pass.timing.startup_seconds;
  return std::min(pass.timing.startup_seconds,
                  std::max(0.0, pass.timing.seconds - pass.timing.disk.busy));
}

Workload work_of(const ooc::Stats& pass, ooc::DeviceKind device, bool checksum) {
  const auto bytes = static_cast<double>(pass.outcome.bytes);
  // Buffered reads leave the data in the page cache, where the next pass finds them if they fit.
  const bool stays = !pass.layout.direct && pass.outcome.bytes <= memory_bytes() / 2;
  Workload work;
  const double read = bytes_read(pass);
  work.from_server = is_remote(pass);
  if (pass.layout.decodes) {
    work.decoded = read;
  } else {
    work.from_disk = disk_share(pass) * (stays ? std::min(bytes, read) : read);
    work.from_page_cache = read - work.from_disk;
  }
  work.read_ahead = static_cast<double>(pass.layout.read_ahead_bytes);
  work.to_device = read;
  work.through_kernel = bytes_used(pass);
  work.to_output = static_cast<double>(pass.outcome.bytes_written);
  work.checksum = checksum && pass.outcome.records != 0;
  if (device == ooc::DeviceKind::cpu) {
    const auto cores = static_cast<double>(ooc::detail::usable_cores());
    // Threads that read and threads that compute work at the same time.
    work.cores = std::min(
        1.0, static_cast<double>(std::max(pass.layout.streams, pass.layout.threads)) / cores);
  }
  return work;
}

std::optional<Prediction> predict(const Workload& work, ooc::DeviceKind device,
                                  const Ceilings& rates) {
  if (work.from_server) return {};
  Predictor predictor;
  const double ahead = rates.disk ? work.read_ahead / *rates.disk : 0;
  predictor.add("disk", predictor.alone("disk", work.from_disk, rates.disk) -
                            std::min(ahead, rates.start_seconds.value_or(0)));
  const double loading = predictor.alone("page_cache", work.from_page_cache, rates.page_cache) +
                         predictor.alone("decode", work.decoded, rates.decode);
  const double computing =
      work.kernel_seconds
          ? *work.kernel_seconds
          : predictor.alone("kernel", work.through_kernel, rates.kernel) / work.cores;
  if (device == ooc::DeviceKind::cpu) {
    predictor.add("cores", loading / work.cores + computing);
  } else {
    predictor.add(work.decoded != 0 ? "decode" : "page_cache", loading);
    predictor.add("h2d", predictor.alone("h2d", work.to_device, rates.h2d));
    predictor.add("kernel", computing);
    predictor.add("d2h", predictor.alone("d2h", work.to_output, rates.d2h));
  }
  if (work.checksum) predictor.leave_out("checksum");
  if (work.to_output != 0) predictor.leave_out("write");
  predictor.start_with(rates.start_seconds);
  return predictor.result();
}

nlohmann::ordered_json describe(const std::optional<Prediction>& prediction) {
  if (!prediction) return nullptr;
  return {{"seconds", prediction->seconds},
          {"stage", prediction->stage.empty() ? nlohmann::ordered_json(nullptr)
                                              : nlohmann::ordered_json(prediction->stage)},
          {"unmeasured", prediction->unmeasured}};
}

std::string explain(const std::optional<Prediction>& prediction, std::string_view unknown) {
  constexpr std::string_view remedy = "ooc-run bench FILE measures";
  if (!unknown.empty()) return fmt::format("not known, of {}", unknown);
  if (!prediction) return fmt::format("not known: {} what it takes to predict it", remedy);
  std::string text = brief(prediction);
  // An unmeasured stage may take longer, so name the slowest stage only if all are measured.
  if (!prediction->stage.empty() && !prediction->is_lower_bound()) {
    text += fmt::format(", bound by {}", find_stage(prediction->stage).spoken);
  }
  if (!prediction->is_lower_bound()) return text;
  std::vector<std::string> stages;
  for (const std::string_view stage : prediction->unmeasured) {
    stages.emplace_back(find_stage(stage).spoken);
  }
  text += "; no ceiling is known of " + enumeration(stages);
  const bool could_be_known = std::ranges::any_of(
      prediction->unmeasured, [](std::string_view stage) { return find_stage(stage).is_benched; });
  if (could_be_known) text += fmt::format(" ({} more)", remedy);
  return text;
}

std::string brief(const std::optional<Prediction>& prediction) {
  if (!prediction) return "not known";
  const std::string_view bound = prediction->is_lower_bound() ? "at least " : "";
  return fmt::format("{}{}", bound, format_seconds(prediction->seconds));
}

std::string beside_fact(const std::optional<Prediction>& prediction, double seconds) {
  if (!prediction) return {};
  return fmt::format("; predicted {}, took {}", brief(prediction), format_seconds(seconds));
}

std::string explain(const Ceilings& ceilings) {
  std::string text;
  const auto add = [&text](std::string_view name, std::optional<double> rate) {
    if (!rate) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, format_rate(*rate));
  };
  add("disk", ceilings.disk);
  add("page cache", ceilings.page_cache);
  add("link", ceilings.h2d);
  add("link to the host", ceilings.d2h);
  add("kernel", ceilings.kernel);
  return text.empty() ? "none are measured: ooc-run bench FILE does" : text;
}

}  // namespace ooc_run
