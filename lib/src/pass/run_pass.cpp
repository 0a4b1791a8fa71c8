#include <ooc/detail/pass/run_pass.hpp>

#include <ooc/detail/pool/blocks.hpp>
#include <ooc/detail/ranks/together.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>
#include <ooc/ranks.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "pass/coordinator_state.hpp"
#include "pass/team.hpp"

namespace ooc::detail {

namespace {

/// Returns the limit of each of `devices` devices; 0 if there is no limit for all.
std::size_t part_of(std::size_t memory_bytes, std::size_t devices) {
  return memory_bytes == 0 ? 0 : std::max<std::size_t>(memory_bytes / devices, 1);
}

/// Throws Error(usage) unless the operation runs on all devices of a coordinator.
void require_devices(const Operation& operation, std::span<Device* const> devices) {
  for (const Device* device : devices) {
    if (operation.runs_on(device->kind())) continue;
    const bool is_gpu = device->kind() == DeviceKind::cuda;
    throw Error(ErrorKind::usage,
                std::string("the operator runs on ") + (is_gpu ? "the CPU" : "GPUs") +
                    ", the coordinator has " + (is_gpu ? "a GPU" : "the CPU"),
                {.why = "the operator says so by `runs_on`",
                 .hint = std::string("make the coordinator of ooc::make_device(ooc::DeviceKind::") +
                         (is_gpu ? "cpu)" : "cuda)")});
  }
}

}  // namespace

Reservation begin_pass(Coordinator& coordinator) {
  return {state_of(coordinator).busy, coordinator.device()};
}

Reservation reserve(Coordinator& coordinator) {
  Reservation reservation = begin_pass(coordinator);
  state_of(coordinator).first_alone().release();
  return reservation;
}

Reservation reserve(Coordinator& coordinator, std::span<Device* const> devices) {
  Reservation reservation = begin_pass(coordinator);
  const std::size_t limit = options_of_each(coordinator, devices.size()).memory_bytes;
  for (const auto& station : state_of(coordinator).stations) {
    station->release();
    const bool works = std::ranges::find(devices, &station->device()) != devices.end();
    if (works) station->set_memory_limit(limit);
  }
  return reservation;
}

Options options_of_each(const Coordinator& coordinator, std::size_t devices) {
  Options each = coordinator.options();
  each.memory_bytes = part_of(each.memory_bytes, devices);
  return each;
}

void require_none(const Checkpoint& checkpoint) {
  if (!checkpoint) return;
  throw Error(
      ErrorKind::usage, "a job of this kind has no checkpoint",
      {.path = checkpoint.file, .remedies = {{RemedyAction::unset, "PassOptions::checkpoint"}}});
}

Stats run_pass(Coordinator& coordinator, const Source& source, RecordShape record,
               Operation& operation, const PassOptions& wanted, std::span<const Output> outputs) {
  Reservation pass = begin_pass(coordinator);
  return run_pass(coordinator, pass, std::array{PassInput{source, record}}, operation, wanted,
                  outputs);
}

Stats run_pass(Coordinator& coordinator, Reservation& pass, std::span<const PassInput> inputs,
               Operation& operation, const PassOptions& wanted, std::span<const Output> outputs) {
  if (wanted.checksum && inputs.size() != 1) {
    throw Error(ErrorKind::usage,
                inputs.empty() ? "a pass without a source has no checksum"
                               : "a pass over several inputs has no checksum",
                {.why = "a checksum is of the bytes of one source, in their order"});
  }
  const bool is_nothing = inputs.empty() && outputs.empty();
  if (is_nothing) throw Error(ErrorKind::usage, "a pass has an input or an output");
  require_devices(operation, coordinator.devices());
  if (operation.lending()) require_none(wanted.checkpoint);
  if (operation.lending() || inputs.empty()) require_one_rank(coordinator.ranks());
  Stats stats = state_of(coordinator).run(pass, inputs, operation, wanted, outputs);
  if (wanted.keep_partial) return stats;
  const bool is_stopped = !outputs.empty() && wanted.stop.stop_requested();
  if (!stats.outcome.partial && !is_stopped) return stats;
  if (outputs.empty()) throw Error(ErrorKind::interrupted, "interrupted");
  throw Error(ErrorKind::interrupted, "interrupted; nothing was written",
              {.path = outputs.front().file.path()});
}

Stats run_share(Coordinator& coordinator, Reservation& pass, std::span<const PassInput> inputs,
                Operation& operation, const PassOptions& wanted, std::span<const Output> outputs,
                Blocks& blocks) {
  CoordinatorState& state = state_of(coordinator);
  require_devices(operation, coordinator.devices());
  const PassJob job{inputs, operation, wanted, outputs, [&pass] { pass.bind_thread(); }};
  const std::span all(state.stations);
  std::string why_not = why_not_shared(all, job);
  if (operation.selects()) why_not = "the place of a record depends on all before it";
  if (!why_not.empty()) {
    throw needs_one_rank(why_not);
  }
  state.divide_memory();
  // A file is written by one device: others would need buffers for its chunks, too.
  return run_shared(outputs.empty() ? all : all.first(1), job, blocks);
}

Station& CoordinatorState::first_alone() {
  for (const auto& other : std::span(stations).subspan(1)) other->release();
  first().set_memory_limit(options.memory_bytes);
  return first();
}

void CoordinatorState::divide_memory() {
  const std::size_t limit = part_of(options.memory_bytes, stations.size());
  for (const auto& station : stations) station->set_memory_limit(limit);
}

Stats CoordinatorState::run(Reservation& pass, std::span<const PassInput> inputs,
                            Operation& operation, const PassOptions& wanted,
                            std::span<const Output> outputs) {
  const PassJob job{inputs, operation, wanted, outputs, [&pass] { pass.bind_thread(); }};
  const bool is_empty = !inputs.empty() && records_of(inputs.front()) == 0;
  if (stations.size() == 1 || is_empty) return first_alone().run(job);
  const std::string why_alone =
      outputs.empty() ? why_not_shared(stations, job) : "it writes a file";
  if (why_alone.empty()) {
    divide_memory();
    LocalBlocks blocks(wanted.stop);
    return run_shared(stations, job, blocks);
  }
  Stats stats = first_alone().run(job);
  stats.outcome.remarks.push_back("only " + stats.layout.device + " ran this pass: " + why_alone);
  return stats;
}

}  // namespace ooc::detail
