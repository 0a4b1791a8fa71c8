#pragma once

#include <ooc/device.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace ooc::detail::measure {

/// Measures the rate of the link alone: copies between page-locked memory and the device, chunk by
/// chunk, in each direction and in both at once.
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
    // Bytes per second, one figure per round: to the device, to the host, and in each direction
    // while both are in use.
    std::vector<double> h2d{}, d2h{}, both{};
  };
  std::span<const Row> rows() const noexcept { return rows_; }
  const Row& best_h2d() const;
  const Row& best_d2h() const;

 private:
  class OneWay;

  double rate(std::span<OneWay* const> ways, std::size_t chunk_bytes) const;

  std::size_t bytes_per_run_;
  std::unique_ptr<OneWay> h2d_, d2h_;
  std::vector<Row> rows_;
};

/// Returns the host memory used by each direction (bytes), which is larger than any cache.
std::size_t link_host_bytes();

}  // namespace ooc::detail::measure
