#include "measure/link.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/memory.hpp>

#include <algorithm>
#include <array>
#include <cstring>

#include "measure/figures.hpp"

namespace ooc::detail::measure {

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
  OneWay(Device& device, std::size_t largest_chunk, bool d2h)
      : host_(device.host_memory(), host_bytes),
        h2d_(device.device_memory(), 2 * largest_chunk),
        stream_(device.make_stream()),
        d2h_(d2h) {
    std::memset(host_.data(), 1, host_bytes);
  }

  void copy(std::size_t chunk, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes; done += chunk) {
      std::byte* const host = host_.data() + done % host_bytes;
      std::byte* const h2d = h2d_.data() + done % (2 * chunk);
      stream_->copy(d2h_ ? host : h2d, d2h_ ? h2d : host, chunk);
    }
  }
  void synchronize() { stream_->synchronize(); }

 private:
  Buffer host_, h2d_;
  std::unique_ptr<Stream> stream_;
  bool d2h_;
};

LinkSweep::LinkSweep(Device& device, std::span<const std::size_t> chunk_bytes,
                     std::size_t bytes_per_run)
    : bytes_per_run_(bytes_per_run) {
  const std::size_t largest = *std::ranges::max_element(chunk_bytes);
  h2d_ = std::make_unique<OneWay>(device, largest, false);
  d2h_ = std::make_unique<OneWay>(device, largest, true);
  for (const std::size_t chunk : chunk_bytes) {
    rows_.push_back({chunk});
    rate(std::array{h2d_.get(), d2h_.get()}, chunk);  // a warm-up
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
    row.h2d.push_back(rate(std::array{h2d_.get()}, row.chunk_bytes));
    row.d2h.push_back(rate(std::array{d2h_.get()}, row.chunk_bytes));
    row.both.push_back(rate(std::array{h2d_.get(), d2h_.get()}, row.chunk_bytes));
  }
}

const LinkSweep::Row& LinkSweep::best_h2d() const {
  return *std::ranges::max_element(rows_, {}, [](const Row& row) { return median_of(row.h2d); });
}

const LinkSweep::Row& LinkSweep::best_d2h() const {
  return *std::ranges::max_element(rows_, {}, [](const Row& row) { return median_of(row.d2h); });
}

}  // namespace ooc::detail::measure
