#include "dataset/rest_producer.hpp"

#include <ooc/detail/dataset/producer.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

namespace ooc::detail {
namespace {

class PartialProducer final : public Producer {
 public:
  PartialProducer(std::unique_ptr<Producer> whole, std::uint64_t skip,
                  std::optional<std::uint64_t> bytes, bool is_array)
      : whole_(std::move(whole)), skip_(skip), bytes_(bytes), is_array_(is_array) {}

  std::size_t fill(std::span<std::byte> room, const std::stop_token& stop) override {
    while (skipped_ < skip_) {
      const std::size_t made = take(room, skip_ - skipped_, stop);
      if (made == 0) return 0;
      skipped_ += made;
    }
    if (!bytes_) return whole_->fill(room, stop);
    if (used_ < *bytes_) {
      const std::size_t made = take(room, *bytes_ - used_, stop);
      used_ += made;
      return made;
    }
    while (is_array_ && !stop.stop_requested()) {
      const std::size_t made = whole_->fill(room, stop);
      if (made == 0) break;
      behind_ += made;
    }
    return 0;
  }

  std::string name() const override { return whole_->name(); }
  std::uint64_t bytes_behind() const override { return behind_; }

 private:
  /// Lets the other producer make at most `most` bytes. Throws Error(bad_input) at its end.
  std::size_t take(std::span<std::byte> room, std::uint64_t most, const std::stop_token& stop) {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), most));
    const std::size_t made = whole_->fill(room.first(bytes), stop);
    if (made == 0 && !stop.stop_requested()) throw ended();
    return made;
  }

  Error ended() const {
    if (is_array_) {
      return {ErrorKind::bad_input,
              name() + ": is truncated: its header says " + std::to_string(skip_ + *bytes_) +
                  " bytes, it has " + std::to_string(skipped_ + used_),
              {.why = "what wrote it has ended too early"}};
    }
    const bool in_data = skipped_ == skip_;
    return {ErrorKind::bad_input,
            name() + ": ended after " + std::to_string(skipped_ + used_) + " bytes" +
                (in_data ? ", before the " + std::to_string(*bytes_) + " asked for" +
                               (skip_ == 0 ? "" : " behind " + std::to_string(skip_) + " to skip")
                         : ", fewer than the " + std::to_string(skip_) + " to skip"),
            {.remedies = {{RemedyAction::lower, in_data ? "Format::count" : "Format::skip"}}}};
  }

  std::unique_ptr<Producer> whole_;
  std::uint64_t skip_, skipped_ = 0;
  std::optional<std::uint64_t> bytes_;
  std::uint64_t used_ = 0;
  bool is_array_;  // behind a header that says its length
  std::atomic<std::uint64_t> behind_{0};
};

}  // namespace

std::unique_ptr<Producer> part_of(std::unique_ptr<Producer> whole, std::uint64_t skip,
                                  std::optional<std::uint64_t> bytes) {
  return std::make_unique<PartialProducer>(std::move(whole), skip, bytes, false);
}

std::unique_ptr<Producer> array_of(std::unique_ptr<Producer> file, std::uint64_t header_bytes,
                                   std::uint64_t bytes) {
  return std::make_unique<PartialProducer>(std::move(file), header_bytes, bytes, true);
}

}  // namespace ooc::detail
