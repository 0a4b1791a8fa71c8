#include <ooc/detail/pool/turns.hpp>
#include <ooc/partials.hpp>

namespace ooc::detail {

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
