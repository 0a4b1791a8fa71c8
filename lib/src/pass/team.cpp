#include "pass/team.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/device/numa.hpp>
#include <ooc/detail/observe/progress_reporter.hpp>
#include <ooc/detail/pass/pass_threads.hpp>
#include <ooc/detail/sizing/io_config.hpp>

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <numeric>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "sizing/dry_run_pass.hpp"

namespace ooc::detail {

namespace {

/// The share that a station has of a pass.
struct Member {
  Member(Station& own, Facts found, Wishes wanted)
      : station(own), facts(std::move(found)), wishes(std::move(wanted)) {}

  Station& station;
  Facts facts;
  Wishes wishes;
  bool gives_way = false;        // to devices that its cores read for
  std::size_t slots_before = 0;  // of the pools of others, in the numbers of trace events
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::size_t> in_flight{0};
  std::optional<Stats> stats{};  // none if it did not begin

  bool took_part() const { return stats && stats->outcome.records != 0; }
};

std::uint64_t step_records(const Layout& layout) {
  return layout.chunk_bytes / layout.record_bytes;
}

/// Returns the smallest number of records that is whole steps of each member.
std::uint64_t common_step(std::span<const Layout> layouts) {
  std::uint64_t records = 1;
  for (const Layout& layout : layouts) records = std::lcm(records, step_records(layout));
  return records;
}

/// Copying for a GPU takes the cores less time than computing the same. So threads that compute,
/// this one and those that it starts, run only when threads that copy leave them time.
void give_way() noexcept {
  const sched_param none{};
  sched_setscheduler(0, SCHED_IDLE, &none);
}

bool computes(const Station& station) {
  return station.device().facts().uses_host_cores;
}

/// True if there are threads that read for a GPU, and they leave cores to others, which would never
/// run otherwise.
bool leaves_some(std::span<const std::unique_ptr<Station>> stations, std::size_t cores) {
  std::size_t readers = 0;
  for (const auto& station : stations) {
    if (!computes(*station)) readers += station->workers().readers;
  }
  return readers != 0 && readers < cores;
}

/// Waits until the device has started. Returns false if all blocks are taken by then.
bool wait_for_start(const Device& device, Blocks& blocks) {
  constexpr std::chrono::milliseconds nap{1};
  for (;;) {
    const bool is_starting = device.is_starting();
    if (blocks.are_taken()) return false;
    if (!is_starting) return true;
    std::this_thread::sleep_for(nap);
  }
}

/// Runs the share of a member, on a thread of its own.
void run_member(Member& member, const PassJob& job, Blocks& blocks, std::stop_token failed,
                const Stopwatch& watch) {
  Device& device = member.station.device();
  if (!wait_for_start(device, blocks)) return;
  bind_to_numa_node(device.numa_node());
  if (member.gives_way) give_way();
  // A stop ends the blocks. Those that are taken are finished, so that the first ones are done.
  PassOptions wanted = job.wanted;
  wanted.stop = std::move(failed);
  wanted.progress = [&member](const Progress& progress) {
    member.bytes = progress.bytes;
    member.in_flight = progress.in_flight;
  };
  if (job.wanted.observe) {
    wanted.observe = [&](TraceEvent event) {
      if (event.kind == TraceEvent::Kind::read) event.worker += member.slots_before;
      job.wanted.observe(event);
    };
  }
  const PassJob share{job.inputs, job.operation, wanted, job.outputs,
                      [&] { device.bind_to_thread(); }};
  member.stats = member.station.run(share, member.facts, member.wishes, watch);
}

/// Returns what all members did. `seconds`: of the pass. Nothing if none took part.
std::optional<Stats> sum_of(std::span<const std::unique_ptr<Member>> members, double seconds) {
  std::optional<Stats> all;
  std::vector<DeviceShare> shares;
  for (const auto& member : members) {
    if (!member->took_part()) continue;
    const Stats& stats = *member->stats;
    const double last = member->station.last_seconds();
    shares.push_back({.device = stats.layout.device,
                      .streams = stats.layout.streams,
                      .bytes = stats.outcome.bytes,
                      .busy_seconds = last - stats.timing.startup_seconds,
                      .start_seconds = stats.timing.startup_seconds,
                      .idle_seconds = std::max(seconds - last, 0.0)});
    if (all) {
      all->add_beside(stats);
    } else {
      all = stats;
    }
  }
  if (!all) return std::nullopt;
  all->timing.seconds = seconds;
  all->devices = std::move(shares);
  return all;
}

/// The stations of a pass, and what their sizes depend on.
struct Team {
  std::vector<std::unique_ptr<Member>> members{};
  std::vector<Layout> layouts{};  // of each, before the blocks are known
  Facts facts{};                  // about the inputs
  std::size_t lanes = 0;          // of all, at most
  std::size_t steps = 0;          // of one, at most
};

/// Forms the team of a pass. `devices`: number of devices that share the memory of the host.
Team form_team(std::span<const std::unique_ptr<Station>> stations, const PassJob& job,
               std::size_t devices) {
  Team team{.facts = stations.front()->measure(job)};
  team.facts.device_starts = false;  // a device that starts reads nothing
  const bool leaves_cores = leaves_some(stations, usable_cores());
  std::size_t slots = 0;
  for (const auto& station : stations) {
    Facts facts = team.facts;
    facts.device = station->device().facts();
    Wishes wishes = station->wishes(job);
    wishes.needs.in_order = true;
    wishes.needs.devices = devices;
    wishes.needs.is_shared = true;
    // One reader tunes the queue depth of a disk. With half of that, others leave it room.
    if (!team.layouts.empty() && team.layouts.front().tuned_depth) {
      const std::size_t depth = team.layouts.front().reads.queue_depth;
      wishes.options.queue_depth = divide_up(depth, std::size_t{2});
    }
    const Layout& layout = team.layouts.emplace_back(choose_layout(facts, wishes));
    team.members.push_back(std::make_unique<Member>(*station, std::move(facts), wishes));
    team.members.back()->gives_way = leaves_cores && computes(*station);
    team.members.back()->slots_before = slots;
    slots += layout.all_slots();
    team.lanes += station->most_lanes();
    team.steps = std::max(team.steps, layout.plan.steps());
  }
  return team;
}

/// Returns the smallest number of records that is whole pages of each output: no page of a file may
/// have two writers, which may be on different machines.
std::uint64_t page_records(std::span<const Output> outputs) {
  std::uint64_t records = 1;
  for (const Output& output : outputs) {
    records = std::lcm(records, page_bytes / std::gcd(page_bytes, output.record_bytes));
  }
  return records;
}

/// Lets steps divide a block that was agreed on before.
void fit_steps(Team& team, std::uint64_t block) {
  for (std::size_t i = 0; i < team.layouts.size(); ++i) {
    const Layout& layout = team.layouts[i];
    const std::uint64_t fitting = std::gcd(step_records(layout), block);
    if (fitting == step_records(layout)) continue;
    team.members[i]->wishes.options.chunk_bytes = fitting * layout.record_bytes;
  }
}

void report(std::span<const std::unique_ptr<Member>> members, ProgressReporter& reporter) {
  std::uint64_t bytes = 0;
  std::size_t in_flight = 0;
  for (const auto& member : members) {
    bytes += member->bytes;
    in_flight += member->in_flight;
  }
  reporter.report(bytes, bytes, in_flight);
}

/// Says how many members took no part in a pass that is complete.
void note_idle(std::span<const std::unique_ptr<Member>> members, Stats& stats) {
  const auto idle =
      std::ranges::count_if(members, [](const auto& member) { return !member->took_part(); });
  if (idle == 0) return;
  stats.outcome.remarks.push_back(std::to_string(idle) + " of " + std::to_string(members.size()) +
                                  " devices took no part: all was read before they had started");
}

}  // namespace

std::string why_not_shared(std::span<const std::unique_ptr<Station>> stations, const PassJob& job) {
  if (job.inputs.empty()) return "it reads nothing";
  if (is_produced(job.inputs)) return "its input can be read once, from beginning to end";
  if (job.wanted.checksum) return "a checksum is of the bytes in their order";
  if (job.operation.lending()) return "it lends its chunks to the program";
  if (job.operation.in_order()) return "its findings are merged in the order of the data";
  const auto is_resident = [](const PassInput& input) { return input.resident != nullptr; };
  if (std::ranges::any_of(job.inputs, is_resident)) return "its input stays on that device";
  const auto is_other = [&](const auto& station) {
    return station->device().kind() != stations.front()->device().kind();
  };
  if (std::ranges::any_of(stations, is_other) && !job.operation.mixes_devices()) {
    return "its operator does not promise the same bits on the CPU and on a GPU";
  }
  return {};
}

Stats run_shared(std::span<const std::unique_ptr<Station>> stations, const PassJob& job,
                 Blocks& blocks) {
  const Stopwatch watch;
  Team team = form_team(stations, job, stations.size() * blocks.processes());
  const SequentialPlan& plan = team.layouts.front().plan;
  const std::uint64_t block =
      blocks.begin(plan.records(), std::lcm(common_step(team.layouts), page_records(job.outputs)));
  fit_steps(team, block);
  StopAtFailure failure;
  for (const auto& member : team.members) {
    member->wishes.needs.share = std::make_shared<Share>(blocks, plan.records(), block);
  }
  job.operation.prepare(team.lanes, team.steps);
  PassThreads threads({&failure, &blocks});
  for (const auto& member : team.members) {
    threads.start([&] { run_member(*member, job, blocks, failure.token(), watch); });
  }
  ProgressReporter reporter(job.wanted.progress, plan.bytes());
  threads.join([&] { report(team.members, reporter); }, [&] { blocks.attend(); });
  // The caller is about to free what the operation holds. It does not wait for a GPU that starts.
  if (team.members.front()->took_part()) job.bind_thread();
  const auto summed = sum_of(team.members, watch.seconds());
  Stats stats = summed.value_or(describe_layout(team.facts, team.layouts.front()));
  for (const auto& member : team.members) {
    std::ranges::copy(member->wishes.needs.share->taken(),
                      std::back_inserter(stats.outcome.covers));
  }
  stats.outcome.partial = stats.outcome.records != plan.planned_records();
  if (!stats.outcome.partial) note_idle(team.members, stats);
  return stats;
}

}  // namespace ooc::detail
