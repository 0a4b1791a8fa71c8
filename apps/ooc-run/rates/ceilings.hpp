#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ooc_run {

/// What the stages of a run can do at best, each alone (bytes per second), and how long it takes to
/// get there. Empty: not measured.
struct Ceilings {
  std::optional<double> disk{};           // read directly
  std::optional<double> page_cache{};     // copied out of it
  std::optional<double> h2d{}, d2h{};     // over the link to a GPU and home
  std::optional<double> kernel{};         // on data that lie on the device
  std::optional<double> start_seconds{};  // until a first chunk was through: device, memory, code

  friend bool operator==(const Ceilings&, const Ceilings&) = default;
};

/// What is known as an object: "disk_bytes_per_second" and so on, and "start_seconds".
nlohmann::ordered_json describe(const Ceilings& ceilings);

/// For what to look: the ceilings of this machine, the file system of this file, this device and,
/// by the name of its operator, this kernel.
struct CeilingsOf {
  std::filesystem::path file{};
  std::string device{};  // as in Stats
  std::string kernel{};  // "histogram u1"
};

/// What has been measured for a file and a device, to be kept.
struct MeasuredCeilings {
  Ceilings stages{};  // but the kernel
  std::map<std::string, double> kernels{};
};

/// "histogram u1", by a command and the type of its input, as in its report ("|u1").
std::string kernel_name(std::string_view command, std::string_view dtype);

/// Where ceilings are kept: $XDG_CACHE_HOME/ooc/ceilings.json, by default in ~/.cache. Empty if
/// neither is known.
std::filesystem::path ceilings_path();

/// What is known of those, nothing if the file is not there or not understood. Never fails.
Ceilings read_ceilings(const CeilingsOf& wanted) noexcept;

/// Why the file that is there says nothing; empty if it does, or if there is none.
std::string why_no_ceilings();

/// Adds what was measured to the file, in place of what was measured before, with today's date.
/// The file is replaced as a whole. Throws Error(output).
void write_ceilings(const CeilingsOf& place, const MeasuredCeilings& measured);

}  // namespace ooc_run
