#pragma once

#include <ooc/coordinator.hpp>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure/disk.hpp"
#include "measure/figures.hpp"

namespace ooc::detail::bench {

// Each function measures one thing and returns it as JSON, in SI units.

using measure::Clock;

/// Measures the setting `only`, or all settings if it is zero.
nlohmann::ordered_json disk_sweep(const std::string& file, measure::DiskSetting only, int runs);
nlohmann::ordered_json link(bool cuda, int runs);

// The stages of a run that writes a file, each measured alone.
/// `copying`: copies other page-locked memory to the device at the same time.
nlohmann::ordered_json read_alone(const std::string& file, bool cuda, bool copying, int runs);
nlohmann::ordered_json write_alone(const std::string& file, std::uint64_t bytes, bool cuda,
                                   int runs);
nlohmann::ordered_json convert_alone(const std::string& from, const std::string& to, bool cuda,
                                     int runs);
nlohmann::ordered_json gemm_in_core(std::uint64_t length, const std::string& compute, bool cuda,
                                    int runs);

/// Options of a pass of a built-in operator over a file. If `file` is empty, `bytes` bytes are read
/// from an engine without a disk, whose reads take `delay_milliseconds` each.
struct PassOptions {
  std::string file;
  std::string operation = "histogram";  // or "reduce"
  std::string dtype = "u1";
  bool cuda = false;
  std::size_t pieces = 1;  // of the file, as of a format that stores chunks in another order
  std::uint64_t bytes = 0;
  double delay_milliseconds = 0;
  ooc::Options coordinator;
  int runs = 1;
};
nlohmann::ordered_json pass(const PassOptions& options);

/// Measures a pass over `bytes` bytes of f4 in frames of zstd, each of `piece_bytes` decoded bytes,
/// and libzstd alone, by turns.
nlohmann::ordered_json decode(std::uint64_t bytes, std::uint64_t piece_bytes,
                              const PassOptions& options);

/// Runs one pass of a built-in operator.
Stats run_once(Coordinator& coordinator, const Source& source, const std::string& operation);

/// Returns {"median", "min", "max", "runs"}.
nlohmann::ordered_json spread(std::vector<double> figures);

}  // namespace ooc::detail::bench
