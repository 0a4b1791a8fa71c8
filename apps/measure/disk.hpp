#pragma once

#include <ooc/device.hpp>
#include <ooc/io/file.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace ooc::measure {

/// How a disk is read.
struct DiskSetting {
  std::size_t block_bytes = 0;  // of one read
  std::size_t depth = 0;        // reads in flight
  std::size_t buffers = 0;      // blocks of memory that they go to in turn; 0: as many as `depth`
};

/// Every block size with every number of bytes in flight that is not smaller.
std::vector<DiskSetting> disk_settings(std::span<const std::size_t> block_bytes,
                                       std::span<const std::size_t> in_flight_bytes);

/// The disk's own rate: direct reads of one file through io_uring, or as many threads as there are
/// reads in flight where the kernel refuses that. A round is one scan of the file,
/// in which every setting reads a part of its own: as a cold run does, it never comes back to what
/// the disk, or the host of a virtual one, may have kept. Which part is whose changes from round to
/// round.
class DiskSweep {
 public:
  /// Both must outlive the sweep. Throws Error(usage) if `why_not` has something to say.
  DiskSweep(const File& file, Device& device, std::vector<DiskSetting> settings);

  /// Why such a sweep of this file is not possible, or empty.
  static std::string why_not(const File& file, std::size_t settings);

  void round();

  struct Row {
    DiskSetting setting;
    std::vector<double> bytes_per_second{};  // a figure a round
  };
  std::span<const Row> rows() const noexcept { return rows_; }
  const Row& best() const;  // by its median
  std::uint64_t part_bytes() const noexcept { return part_bytes_; }

  /// Of a sweep with so many settings.
  static std::uint64_t part_bytes(const File& file, std::size_t settings);

 private:
  const File& file_;
  Device& device_;
  std::vector<Row> rows_;
  std::uint64_t part_bytes_;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace ooc::measure
