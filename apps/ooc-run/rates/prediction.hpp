#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/device.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rates/ceilings.hpp"

namespace ooc_run {

/// What a run has to do, in bytes of all its passes together.
struct Workload {
  double from_disk = 0;
  double from_page_cache = 0;  // or from holes, which are zeros that are copied as well
  double read_ahead = 0;  // of what comes from the disk, the most that does so while a GPU starts
  double to_device = 0;   // over the link, if there is one
  double through_kernel = 0;
  double to_output = 0;  // over the link home, and to a disk
  bool checksum = false;
  double cores = 1;                        // the share of the machine's that compute, 0 to 1
  std::optional<double> kernel_seconds{};  // where a run's own plan has measured that
};

/// What a pass does, by its plan or by what it has done: these are the same.
Workload work_of(const ooc::Stats& pass, ooc::DeviceKind device, bool checksum);

/// The part of what a pass reads that comes from the page cache.
double cached_share(const ooc::Stats& pass);

/// The part that comes from a disk: neither from the page cache nor from holes.
double disk_share(const ooc::Stats& pass);

/// What a run has lost to its start-up: what it has read ahead in that time is no loss.
double idle_startup_seconds(const ooc::Stats& pass);

/// How long a run takes: as long as the slowest of its stages, which work side by side. On the CPU
/// copying and computing share the cores. It is a lower bound if there are stages that nobody has
/// measured.
struct Prediction {
  double seconds = 0;
  std::string_view stage{};                    // the slowest: "disk", or "cores" on the CPU
  std::vector<std::string_view> unmeasured{};  // stages that take part and are not counted

  bool is_lower_bound() const { return !unmeasured.empty(); }
};

/// By the rates of the stages. Empty if none of those that take part is known.
std::optional<Prediction> predict(const Workload& work, ooc::DeviceKind device,
                                  const Ceilings& rates);

/// Seconds, stage and what is not measured; null for none.
nlohmann::ordered_json describe(const std::optional<Prediction>& prediction);

// The same for people.

/// "at least 3.21 s, bound by the disk; no ceiling is known of the kernel".
std::string explain(const std::optional<Prediction>& prediction);

/// "at least 3.21 s", or "not known".
std::string brief(const std::optional<Prediction>& prediction);

/// "; predicted 3.21 s, took 3.40 s", for the end of a verdict. Empty for none.
std::string beside_fact(const std::optional<Prediction>& prediction, double seconds);

/// "disk 6.95 GB/s, page cache 40.1 GB/s": what bench has measured.
std::string explain(const Ceilings& ceilings);

}  // namespace ooc_run
