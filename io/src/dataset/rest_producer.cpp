#include "dataset/rest_producer.hpp"

#include <ooc/error.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace ooc {

RestProducer::RestProducer(std::unique_ptr<Producer> stream, std::vector<std::byte> begun,
                           bool has_ended, std::size_t offset, std::optional<std::uint64_t> bytes)
    : stream_(std::move(stream)),
      begun_(std::move(begun)),
      has_ended_(has_ended),
      position_(offset),
      bytes_(bytes),
      header_bytes_(offset) {}

std::size_t RestProducer::fill(std::span<std::byte> room, const std::stop_token& stop) {
  const std::uint64_t left = bytes_.value_or(std::numeric_limits<std::uint64_t>::max()) - done_;
  if (left == 0) {
    skip_rest(room, stop);
    return 0;
  }
  const std::size_t got = read(room.first(std::min<std::uint64_t>(room.size(), left)), stop);
  done_ += got;
  if (got == 0 && bytes_ && !stop.stop_requested()) {
    throw Error(ErrorKind::bad_input,
                name() + ": is truncated: its header says " +
                    std::to_string(header_bytes_ + *bytes_) + " bytes, it has " +
                    std::to_string(header_bytes_ + done_),
                {.why = "what wrote it has ended too early"});
  }
  return got;
}

std::size_t RestProducer::read(std::span<std::byte> room, const std::stop_token& stop) {
  const std::size_t begun = std::min(room.size(), begun_.size() - position_);
  if (begun != 0) {
    std::ranges::copy(std::span(begun_).subspan(position_, begun), room.begin());
    position_ += begun;
    return begun;
  }
  if (has_ended_) return 0;
  const std::size_t got = stream_->fill(room, stop);
  has_ended_ = got == 0 && !stop.stop_requested();
  return got;
}

void RestProducer::skip_rest(std::span<std::byte> room, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::size_t got = read(room, stop);
    if (got == 0) return;
    behind_ += got;
  }
}

}  // namespace ooc
