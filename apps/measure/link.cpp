#include "measure/link.hpp"

#include <ooc/buffer.hpp>
#include <ooc/io/units.hpp>

#include <algorithm>
#include <array>
#include <cstring>

#include "measure/figures.hpp"

namespace ooc::measure {

namespace {

constexpr std::size_t host_bytes = 256 * MiB;

double median_of(const std::vector<double>& figures) {
  return spread_of(figures).median;
}

}  // namespace

std::size_t link_host_bytes() {
  return host_bytes;
}

/// A stream that copies in one direction, with its buffers.
class LinkSweep::OneWay {
 public:
  OneWay(Device& device, std::size_t largest_chunk, bool home)
      : host_(device.host_memory(), host_bytes),
        there_(device.device_memory(), 2 * largest_chunk),
        stream_(device.make_stream()),
        home_(home) {
    std::memset(host_.data(), 1, host_bytes);
  }

  void copy(std::size_t chunk, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes; done += chunk) {
      std::byte* const host = host_.data() + done % host_bytes;
      std::byte* const there = there_.data() + done % (2 * chunk);
      stream_->copy(home_ ? host : there, home_ ? there : host, chunk);
    }
  }
  void synchronize() { stream_->synchronize(); }

 private:
  Buffer host_, there_;
  std::unique_ptr<Stream> stream_;
  bool home_;
};

LinkSweep::LinkSweep(Device& device, std::span<const std::size_t> chunk_bytes,
                     std::size_t bytes_per_run)
    : bytes_per_run_(bytes_per_run) {
  const std::size_t largest = *std::ranges::max_element(chunk_bytes);
  there_ = std::make_unique<OneWay>(device, largest, false);
  home_ = std::make_unique<OneWay>(device, largest, true);
  for (const std::size_t chunk : chunk_bytes) {
    rows_.push_back({chunk});
    rate(std::array{there_.get(), home_.get()}, chunk);  // a warm-up
  }
}

LinkSweep::~LinkSweep() = default;

double LinkSweep::rate(std::span<OneWay* const> ways, std::size_t chunk_bytes) const {
  const Clock clock;
  for (OneWay* way : ways) way->copy(chunk_bytes, bytes_per_run_);
  for (OneWay* way : ways) way->synchronize();
  return static_cast<double>(bytes_per_run_) / clock.seconds();
}

void LinkSweep::round() {
  for (Row& row : rows_) {
    row.there.push_back(rate(std::array{there_.get()}, row.chunk_bytes));
    row.home.push_back(rate(std::array{home_.get()}, row.chunk_bytes));
    row.both.push_back(rate(std::array{there_.get(), home_.get()}, row.chunk_bytes));
  }
}

const LinkSweep::Row& LinkSweep::best_there() const {
  return *std::ranges::max_element(rows_, {}, [](const Row& row) { return median_of(row.there); });
}

const LinkSweep::Row& LinkSweep::best_home() const {
  return *std::ranges::max_element(rows_, {}, [](const Row& row) { return median_of(row.home); });
}

}  // namespace ooc::measure
