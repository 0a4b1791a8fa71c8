#pragma once

#include <ooc/detail/file/file.hpp>
#include <ooc/device.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace ooc::detail::measure {

/// The settings of reads from a disk.
struct DiskSetting {
  std::size_t block_bytes = 0;  // of one read
  std::size_t depth = 0;        // reads in flight
  std::size_t buffers = 0;      // blocks of memory, used in turn; 0: `depth` blocks
};

/// Returns all combinations with at least one block in flight.
std::vector<DiskSetting> disk_settings(std::span<const std::size_t> block_bytes,
                                       std::span<const std::size_t> in_flight_bytes);

/// Measures the rate of the disk alone with direct reads of one file through io_uring, or with one
/// thread per read in flight where the kernel refuses io_uring. A round scans the file once, and
/// each setting reads a different part. As in a cold run, nothing is read twice in a round, so
/// that caches of the disk or of a virtual machine's host do not help. The parts are assigned to
/// settings at random in each round.
class DiskSweep {
 public:
  /// `file` and `device` must outlive the sweep. Throws Error(usage) if why_not() is not empty.
  DiskSweep(const File& file, Device& device, std::vector<DiskSetting> settings);

  /// Returns why a sweep of this file is not possible; empty if it is.
  static std::string why_not(const File& file, std::size_t settings);

  void round();

  struct Row {
    DiskSetting setting;
    std::vector<double> bytes_per_second{};  // one figure per round
  };
  std::span<const Row> rows() const noexcept { return rows_; }
  const Row& best() const;  // highest median
  std::uint64_t part_bytes() const noexcept { return part_bytes_; }

  /// Returns the size of a part if there are `settings` settings.
  static std::uint64_t part_bytes(const File& file, std::size_t settings);

 private:
  const File& file_;
  Device& device_;
  std::vector<Row> rows_;
  std::uint64_t part_bytes_;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace ooc::detail::measure
