#pragma once

#include <cstddef>
#include <filesystem>
#include <ooc/coordinator.hpp>
#include <ooc/device.hpp>
#include <ooc/ranks.hpp>
#include <ooc/source.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "request/device_words.hpp"

namespace ooc_run {

class StallGuard;

/// automatic: a bar on a terminal, else none; plain: a line every two seconds; none.
enum class ProgressMode { automatic, plain, none };

/// The form in which a command prints.
struct OutputSettings {
  bool json = false;     // one JSON document instead of text
  bool quiet = false;    // no notes and no progress
  bool verbose = false;  // also the reasons for how the work was done
  ProgressMode progress = ProgressMode::automatic;
};

/// Files that a run writes beside its result.
struct SideFiles {
  std::optional<std::filesystem::path> plot, trace, report;
  bool replace = false;  // existing files
};

/// The settings that all commands on files have in common.
struct RunSettings {
  std::string command;             // "reduce"
  std::vector<std::string> files;  // as given on the command line
  ooc::Format format;
  std::string type_word;  // the value of --dtype as given
  ooc::Options options;
  std::vector<DeviceName> devices;     // none: the GPU if it is usable
  std::string device_word;             // the value of --device as given
  ooc::Checkpoint checkpoint;          // no file: none
  bool checksum = false;               // of the bytes read
  bool verify = false;                 // check the result independently
  bool explain = false;                // dry run: only print what would be done
  std::optional<double> rank_timeout;  // seconds, of several ranks
  StallGuard* stall_guard = nullptr;   // of the command; may be null
  OutputSettings output;
  SideFiles side_files;

  /// Return kind and ordinal of the first device. Without a device, the kind is empty.
  std::optional<ooc::DeviceKind> device_kind() const;
  int ordinal() const { return devices.empty() ? 0 : devices.front().ordinal; }

  /// True unless another rank prints the result and writes the side files.
  bool prints() const { return options.ranks == nullptr || options.ranks->is_first(); }
  /// Returns the number of processes that share the run.
  std::size_t rank_count() const { return options.ranks == nullptr ? 1 : options.ranks->size(); }
};

// Each throws Error(usage).

OutputSettings read_output_settings(const Arguments& arguments);
RunSettings read_run_settings(const Arguments& arguments);

}  // namespace ooc_run
