#include <ooc/fold.hpp>

#include <algorithm>

namespace ooc::detail {

void CompositeOperation::begin(std::size_t lane, Stream& stream) {
  for (Operation* operation : operations_) operation->begin(lane, stream);
}

void CompositeOperation::process(std::size_t lane, Stream& stream, DeviceSpan<const std::byte> data,
                                 std::uint64_t first_byte, DeviceSpan<std::byte> out) {
  for (Operation* operation : operations_) {
    operation->process(lane, stream, data, first_byte, out);
  }
}

void CompositeOperation::end(std::size_t lane, Stream& stream) {
  for (Operation* operation : operations_) operation->end(lane, stream);
}

bool CompositeOperation::takes_any_chunk() const noexcept {
  return std::ranges::all_of(operations_, &Operation::takes_any_chunk);
}

}  // namespace ooc::detail
