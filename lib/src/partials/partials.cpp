#include <ooc/detail/partials/partials.hpp>
#include <ooc/detail/pool/turns.hpp>

#include <string>
#include <utility>

namespace ooc::detail {

Error too_many_partials(const Error& error) {
  ErrorDetails details = error.details();
  details.why = std::string(error.what()) +
                "; each partition has a partial result, until it is merged with its neighbour";
  details.hint =
      "if the result does not depend on the order, give the operator `static constexpr "
      "ooc::Merge merge_order = ooc::Merge::unordered`: one partial for each stream";
  return {ErrorKind::memory, "there is no memory for so many partial results of the operator",
          std::move(details)};
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
