#include <ooc/coordinator.hpp>

#include <ooc/device.hpp>
#include <ooc/error.hpp>
#include <ooc/ranks.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "pass/station.hpp"
#include "pass/team.hpp"
#include "sizing/dry_run_pass.hpp"

namespace ooc {

namespace {

std::string name_of(Version version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

/// The types of another version may have other members than those that the program has compiled.
void check_version(Version headers) {
  const Version library = version();
  if (headers.major == library.major && headers.minor == library.minor) return;
  throw Error(ErrorKind::usage,
              "this program was compiled with the headers of libooc " + name_of(headers) +
                  ", and runs with libooc " + name_of(library),
              {.why = "before 1.0, each minor version may change the types of the headers",
               .hint = "compile it with the headers of the library that it finds; ldd PROGRAM "
                       "shows the path of a shared one"});
}

/// Returns the limit of each of so many devices, if there is one for all.
std::size_t part_of(std::size_t memory_bytes, std::size_t devices) {
  return memory_bytes == 0 ? 0 : std::max<std::size_t>(memory_bytes / devices, 1);
}

std::vector<std::unique_ptr<Device>> only(std::unique_ptr<Device> device) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::move(device));
  return devices;
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

struct Coordinator::State {
  Options options;
  std::atomic_flag busy{};  // a pass runs, or some other job has reserved the coordinator
  std::vector<std::unique_ptr<Station>> stations;  // at least one

  Station& first() noexcept { return *stations.front(); }
  Station& first_alone();
  Stats run(Reservation& pass, std::span<const PassInput> inputs, Operation& operation,
            const PassOptions& wanted, std::span<const Output> outputs);
  void divide_memory();
};

Coordinator::Coordinator(std::unique_ptr<Device> device, Options options, Version headers)
    : Coordinator(only(std::move(device)), std::move(options), headers) {}

Coordinator::Coordinator(std::vector<std::unique_ptr<Device>> devices, Options options,
                         Version headers)
    : state_(std::make_unique<State>()) {
  check_version(headers);
  if (devices.empty()) throw Error(ErrorKind::usage, "a coordinator has at least one device");
  state_->options = bounded(std::move(options));
  std::size_t lanes = 0;
  for (std::unique_ptr<Device>& device : devices) {
    state_->stations.push_back(
        std::make_unique<Station>(std::move(device), state_->options, lanes));
    lanes += state_->stations.back()->most_lanes();
  }
}

Coordinator::~Coordinator() = default;

Coordinator::Reservation Coordinator::begin_pass() {
  return {state_->busy, device()};
}

Coordinator::Reservation Coordinator::reserve() {
  Reservation reservation = begin_pass();
  state_->first_alone().release();
  return reservation;
}

Coordinator::Reservation Coordinator::reserve(std::span<Device* const> devices) {
  Reservation reservation = begin_pass();
  const std::size_t limit = options_of_each(devices.size()).memory_bytes;
  for (const auto& station : state_->stations) {
    station->release();
    const bool works = std::ranges::find(devices, &station->device()) != devices.end();
    if (works) station->set_memory_limit(limit);
  }
  return reservation;
}

Device& Coordinator::device() noexcept {
  return state_->first().device();
}
std::vector<Device*> Coordinator::devices() const {
  std::vector<Device*> devices;
  for (const auto& station : state_->stations) devices.push_back(&station->device());
  return devices;
}
Ranks* Coordinator::ranks() const noexcept {
  return state_->options.ranks;
}
const Options& Coordinator::options() const noexcept {
  return state_->options;
}
Options Coordinator::options_of_each(std::size_t devices) const {
  Options each = state_->options;
  each.memory_bytes = part_of(each.memory_bytes, devices);
  return each;
}
std::size_t Coordinator::streams() const noexcept {
  return state_->first().workers().reading_lanes;
}

Stats Coordinator::run(const Source& source, RecordShape record, Operation& operation,
                       const PassOptions& wanted, std::span<const Output> outputs) {
  Reservation pass = begin_pass();
  return run(pass, std::array{PassInput{source, record}}, operation, wanted, outputs);
}

Stats Coordinator::run(Reservation& pass, std::span<const PassInput> inputs, Operation& operation,
                       const PassOptions& wanted, std::span<const Output> outputs) {
  if (wanted.checksum && inputs.size() != 1) {
    throw Error(ErrorKind::usage,
                inputs.empty() ? "a pass without a source has no checksum"
                               : "a pass over several inputs has no checksum",
                {.why = "a checksum is of the bytes of one source, in their order"});
  }
  const bool is_nothing = inputs.empty() && outputs.empty();
  if (is_nothing) throw Error(ErrorKind::usage, "a pass has an input or an output");
  require_devices(operation, devices());
  if (operation.lending()) require_none(wanted.checkpoint);
  if (operation.lending() || inputs.empty()) detail::require_one_rank(ranks());
  Stats stats = state_->run(pass, inputs, operation, wanted, outputs);
  if (wanted.keep_partial) return stats;
  const bool is_stopped = !outputs.empty() && wanted.stop.stop_requested();
  if (!stats.outcome.partial && !is_stopped) return stats;
  if (outputs.empty()) throw Error(ErrorKind::interrupted, "interrupted");
  throw Error(ErrorKind::interrupted, "interrupted; nothing was written",
              {.path = outputs.front().file.path()});
}

Stats Coordinator::run_share(Reservation& pass, std::span<const PassInput> inputs,
                             Operation& operation, const PassOptions& wanted,
                             std::span<const Output> outputs, Blocks& blocks) {
  require_devices(operation, devices());
  const PassJob job{inputs, operation, wanted, outputs, [&pass] { pass.bind_thread(); }};
  const std::span all(state_->stations);
  std::string why_not = why_not_shared(all, job);
  if (operation.selects()) why_not = "the place of a record depends on all before it";
  if (!why_not.empty()) {
    throw detail::needs_one_rank(why_not);
  }
  state_->divide_memory();
  // A file is written by one device: others would need buffers for its chunks, too.
  return run_shared(outputs.empty() ? all : all.first(1), job, blocks);
}

/// Returns the first station, which then has all memory of the host to itself.
Station& Coordinator::State::first_alone() {
  for (const auto& other : std::span(stations).subspan(1)) other->release();
  first().set_memory_limit(options.memory_bytes);
  return first();
}

/// Gives each station an equal part of the memory of the host.
void Coordinator::State::divide_memory() {
  const std::size_t limit = part_of(options.memory_bytes, stations.size());
  for (const auto& station : stations) station->set_memory_limit(limit);
}

/// On all devices, or on the first if they cannot share the pass.
Stats Coordinator::State::run(Reservation& pass, std::span<const PassInput> inputs,
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

}  // namespace ooc
