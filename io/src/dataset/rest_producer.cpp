#include "dataset/rest_producer.hpp"

#include <algorithm>
#include <utility>

namespace ooc::detail {
namespace {

class RestProducer final : public Producer {
 public:
  RestProducer(std::unique_ptr<Producer> stream, std::vector<std::byte> begun, bool has_ended)
      : stream_(std::move(stream)), begun_(std::move(begun)), has_ended_(has_ended) {}

  std::size_t fill(std::span<std::byte> room, const std::stop_token& stop) override {
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

  std::string name() const override { return stream_->name(); }

 private:
  std::unique_ptr<Producer> stream_;
  std::vector<std::byte> begun_;
  bool has_ended_;
  std::size_t position_ = 0;  // in begun_
};

}  // namespace

std::unique_ptr<Producer> rest_of(std::unique_ptr<Producer> stream, std::vector<std::byte> begun,
                                  bool has_ended) {
  return std::make_unique<RestProducer>(std::move(stream), std::move(begun), has_ended);
}

}  // namespace ooc::detail
