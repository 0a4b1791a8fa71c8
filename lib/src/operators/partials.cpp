#include <ooc/detail/base/group_digits.hpp>
#include <ooc/detail/pool/turns.hpp>
#include <ooc/partials.hpp>

#include <algorithm>
#include <string>

namespace ooc::detail {

void PartialMemory::set_bytes(std::size_t bytes) {
  constexpr std::size_t share = 8;
  if (bytes == 0) return;
  const std::uint64_t left = device_.device_memory().bytes_left();
  bytes_ = bytes;
  most_ = (std::min<std::uint64_t>(device_.available_bytes(), left) + bytes) / share / bytes;
}

Error PartialMemory::too_many() const {
  return {
      ErrorKind::usage,
      "the partial results of the operator take more than an eighth of the device's memory",
      {.why = "each takes " + group_digits(std::to_string(bytes_)) +
              " bytes there, and more than " + group_digits(std::to_string(most_)) +
              " exist at a time: those of partitions that are not neighbours cannot be merged",
       .hint = "if the result does not depend on the order, give the operator `static constexpr "
               "ooc::Merge merge_order = ooc::Merge::unordered`: one partial for each stream"}};
}

struct PartitionOrder::State {
  Turns turns{1};
};

PartitionOrder::PartitionOrder() : state_(std::make_unique<State>()) {}
PartitionOrder::~PartitionOrder() = default;

void PartitionOrder::wait_for(std::size_t partition) {
  state_->turns.wait(partition, ChunkState::empty);
}

void PartitionOrder::through(std::size_t partition) noexcept {
  state_->turns.finish(partition);
}

void PartitionOrder::abort() noexcept {
  state_->turns.abort();
}

}  // namespace ooc::detail
