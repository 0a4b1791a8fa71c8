#include <ooc/detail/operators/fold_operation.hpp>

#include <algorithm>

namespace ooc::detail {

void CompositeOperation::prepare(std::size_t lanes, std::size_t steps) {
  for (Operation* operation : operations_) operation->prepare(lanes, steps);
}

void CompositeOperation::begin(std::size_t lane, Stream& stream) {
  for (Operation* operation : operations_) operation->begin(lane, stream);
}

void CompositeOperation::process(std::size_t lane, Stream& stream, const StepRecords& in,
                                 const StepResults& out) {
  for (Operation* operation : operations_) operation->process(lane, stream, in, out);
}

void CompositeOperation::end(std::size_t lane, Stream& stream) {
  for (Operation* operation : operations_) operation->end(lane, stream);
}

/// All partitions are powers of two, so the largest is whole ones of all.
std::size_t CompositeOperation::partition() const noexcept {
  std::size_t largest = 1;
  for (const Operation* operation : operations_) {
    largest = std::max(largest, operation->partition());
  }
  return largest;
}

Margin CompositeOperation::margin() const noexcept {
  Margin largest;
  for (const Operation* operation : operations_) {
    const Margin margin = operation->margin();
    largest = {std::max(largest.before, margin.before), std::max(largest.after, margin.after)};
  }
  return largest;
}

HostBytes CompositeOperation::host_bytes() const noexcept {
  HostBytes sum;
  for (const Operation* operation : operations_) {
    const HostBytes bytes = operation->host_bytes();
    sum = {sum.fixed + bytes.fixed, sum.per_lane + bytes.per_lane};
  }
  return sum;
}

bool CompositeOperation::in_order() const noexcept {
  return std::ranges::any_of(operations_, &Operation::in_order);
}

bool CompositeOperation::mixes_devices() const noexcept {
  return std::ranges::all_of(operations_, &Operation::mixes_devices);
}

bool CompositeOperation::runs_on(DeviceKind kind) const noexcept {
  return std::ranges::all_of(operations_,
                             [kind](const Operation* each) { return each->runs_on(kind); });
}

void CompositeOperation::abort() noexcept {
  for (Operation* operation : operations_) operation->abort();
}

}  // namespace ooc::detail
