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

/// The work of each stage of a run, in bytes summed over all passes.
struct Workload {
  bool from_server = false;  // from a server, whose rate is not known
  double from_disk = 0;
  double from_page_cache = 0;  // and from holes: their zeros are copied too
  double decoded = 0;          // instead of both, if the input is stored in encoded pieces
  double read_ahead = 0;       // part of `from_disk`: the most that is read while a GPU starts
  double to_device = 0;        // over the link, if there is one
  double through_kernel = 0;
  double to_output = 0;  // over the link to the host, and to a disk
  bool checksum = false;
  double cores = 1;                        // fraction of the usable cores that compute, 0 to 1
  std::optional<double> kernel_seconds{};  // if the run's plan gives it
};

/// Returns the work of a pass. `pass`: the statistics of a dry run or of a real one.
Workload work_of(const ooc::Stats& pass, ooc::DeviceKind device, bool checksum);

/// Returns the bytes of the input that operators process in all passes, and the part of them that
/// is read: the rest is resident on the device since an earlier pass.
double bytes_used(const ooc::Stats& passes);
double bytes_read(const ooc::Stats& passes);

/// Returns the fraction of a pass's input that comes from the page cache.
double cached_share(const ooc::Stats& pass);

/// True if the input comes from a server, as does a pass that reads local files beside remote ones.
bool is_remote(const ooc::Stats& pass);

/// Returns the fraction that comes from a disk: neither from a server, the page cache nor holes.
double disk_share(const ooc::Stats& pass);

/// Returns the part of the start-up time that reading ahead did not hide.
double idle_startup_seconds(const ooc::Stats& pass);

/// Predicted duration of a run: the start-up and then the slowest stage, since stages overlap. On
/// the CPU, copying and computing share the cores and count as one stage. The prediction is a lower
/// bound if some stages have not been measured.
struct Prediction {
  double seconds = 0;
  std::string_view stage{};                    // the slowest: "disk", "cores", ...
  std::vector<std::string_view> unmeasured{};  // stages of the run without a known rate

  bool is_lower_bound() const { return !unmeasured.empty(); }
};

/// Predicts a run from the ceilings of its stages. Empty if none of its stages has been measured,
/// and for input from a server.
std::optional<Prediction> predict(const Workload& work, ooc::DeviceKind device,
                                  const Ceilings& rates);

/// Returns an object with "seconds", "stage" and "unmeasured"; null if there is no prediction.
nlohmann::ordered_json describe(const std::optional<Prediction>& prediction);

// Text for messages.

/// Returns, for example, "at least 3.21 s; no ceiling is known of the kernel". `unknown`: the
/// reason why there is no prediction, such as "several ranks" or "a server"; empty without one.
std::string explain(const std::optional<Prediction>& prediction, std::string_view unknown = {});

/// Returns, for example, "at least 3.21 s", or "not known".
std::string brief(const std::optional<Prediction>& prediction);

/// Returns, for example, "; predicted 3.21 s, took 3.40 s", for the end of a verdict. Empty without
/// a prediction.
std::string beside_fact(const std::optional<Prediction>& prediction, double seconds);

/// Returns the measured rates, for example "disk 6.95 GB/s, page cache 40.1 GB/s".
std::string explain(const Ceilings& ceilings);

}  // namespace ooc_run
