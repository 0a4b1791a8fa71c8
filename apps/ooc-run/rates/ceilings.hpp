#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ooc_run {

/// Maximum rates of the stages of a run, each measured alone (bytes per second), and the time to
/// start. Empty: not measured.
struct Ceilings {
  std::optional<double> disk{};           // direct I/O
  std::optional<double> page_cache{};     // copies from the page cache
  std::optional<double> h2d{}, d2h{};     // copies over the link
  std::optional<double> decode{};         // of compressed data, decoded bytes; is not measured
  std::optional<double> kernel{};         // on data in device memory
  std::optional<double> start_seconds{};  // until the first chunk is done: device, memory, code

  friend bool operator==(const Ceilings&, const Ceilings&) = default;
};

/// Returns the measured ceilings as an object: "disk_bytes_per_second" and so on, "start_seconds".
nlohmann::ordered_json describe(const Ceilings& ceilings);

/// Key of ceilings: the file system of a file, a device and a kernel, all on this machine.
struct CeilingsOf {
  std::filesystem::path file{};
  std::string device{};  // as in LayoutStats::device
  std::string kernel{};  // "histogram u1"
};

/// Measured ceilings for a file and a device.
struct MeasuredCeilings {
  Ceilings stages{};                        // `kernel` is not used
  std::map<std::string, double> kernels{};  // by kernel_name()
};

/// Returns the name of a kernel, for example "histogram u1", given the command and the type of its
/// input as in reports ("|u1"). Empty if the data are in the other byte order.
std::string kernel_name(std::string_view command, std::string_view dtype);

/// Returns the path of the file of ceilings, $XDG_CACHE_HOME/ooc/ceilings.json. The default
/// directory is ~/.cache. Empty if neither directory is known.
std::filesystem::path ceilings_path();

/// Reads the ceilings for this key. They are empty if the file is missing or cannot be parsed.
Ceilings read_ceilings(const CeilingsOf& wanted) noexcept;

/// Returns the reason why an existing file cannot be used. Empty if it can, or if there is none.
std::string why_no_ceilings();

/// Adds the measured ceilings to the file, with today's date. They replace older entries with the
/// same key. The file is replaced atomically. Throws Error(output).
void write_ceilings(const CeilingsOf& subject, const MeasuredCeilings& measured);

}  // namespace ooc_run
