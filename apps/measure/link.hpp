#pragma once

#include <ooc/device.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace ooc::measure {

/// The link's own rate: copies out of page-locked memory to a device and back, chunk by chunk, with
/// nothing else going on, and in both directions at once.
class LinkSweep {
 public:
  /// The device must outlive the sweep and be bound to the calling thread.
  LinkSweep(Device& device, std::span<const std::size_t> chunk_bytes, std::size_t bytes_per_run);
  ~LinkSweep();
  LinkSweep(const LinkSweep&) = delete;
  LinkSweep& operator=(const LinkSweep&) = delete;

  void round();

  struct Row {
    std::size_t chunk_bytes;
    // Bytes per second, a figure a round: to the device, home, and each way if both are in use.
    std::vector<double> there{}, home{}, both{};
  };
  std::span<const Row> rows() const noexcept { return rows_; }
  const Row& best_there() const;
  const Row& best_home() const;

 private:
  class OneWay;

  double rate(std::span<OneWay* const> ways, std::size_t chunk_bytes) const;

  std::size_t bytes_per_run_;
  std::unique_ptr<OneWay> there_, home_;
  std::vector<Row> rows_;
};

/// Host memory that the copies go through (bytes): more than any cache holds.
std::size_t link_host_bytes();

}  // namespace ooc::measure
