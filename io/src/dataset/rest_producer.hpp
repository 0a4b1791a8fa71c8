#pragma once

#include <ooc/detail/dataset/producer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace ooc {

/// A stream of which the beginning was read already: gives that, without a header, and the rest.
class RestProducer final : public Producer {
 public:
  /// `begun`: what was read of `stream`; `has_ended`: that was all. The data begin at byte `offset`
  /// of it and have `bytes` bytes; if empty, all there are.
  RestProducer(std::unique_ptr<Producer> stream, std::vector<std::byte> begun, bool has_ended,
               std::size_t offset = 0, std::optional<std::uint64_t> bytes = {});

  /// Throws Error(bad_input) if the stream ends before the data do. Reads and counts what is behind
  /// them, so that its writer does not fail.
  std::size_t fill(std::span<std::byte> room, const std::stop_token& stop) override;
  std::string name() const override { return stream_->name(); }
  std::uint64_t bytes_behind() const override { return behind_; }

 private:
  std::size_t read(std::span<std::byte> room, const std::stop_token& stop);
  void skip_rest(std::span<std::byte> room, const std::stop_token& stop);

  std::unique_ptr<Producer> stream_;
  std::vector<std::byte> begun_;
  bool has_ended_;
  std::size_t position_;  // in begun_
  std::optional<std::uint64_t> bytes_;
  std::uint64_t header_bytes_, done_ = 0;
  std::atomic<std::uint64_t> behind_{0};
};

}  // namespace ooc
