#include "lib/simulation/simulation.hpp"

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/checksum/checksum.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/engine/queue_tuner.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/pool/tickets.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/detail/transfer/writer.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lib/simulation/ledger.hpp"
#include "lib/simulation/margin_ledger.hpp"
#include "lib/simulation/simulated_output.hpp"
#include "lib/simulation/slot_owners.hpp"
#include "lib/simulation/step_check.hpp"
#include "lib/simulation/troubles.hpp"
#include "observe/stopwatch.hpp"
#include "pass/appender.hpp"
#include "pass/inline_readers.hpp"
#include "pass/lane.hpp"
#include "pass/pass.hpp"
#include "sizing/layout.hpp"
#include "support/faulty_engine.hpp"
#include "support/late_device.hpp"
#include "support/leaping_clock.hpp"
#include "support/random.hpp"
#include "support/random_engine.hpp"
#include "support/wrapped_device.hpp"

namespace ooc::detail::test {
namespace {

class Simulation final : Operation {
 public:
  Simulation(World& world, const Scenario& scenario);
  Outcome run();

 private:
  /// Records the owners of the slots that a transfer reads or writes.
  class Observer final : public TransferObserver {
   public:
    Observer(Simulation& simulation, bool writes) : simulation_(simulation), writes_(writes) {}
    void begun(std::size_t slot, std::size_t chunk) override;
    void completed(std::size_t slot, std::size_t chunk, std::uint64_t payload_bytes) override;

   private:
    Simulation& simulation_;
    bool writes_;
  };

  void at(Place place);
  void run_pass();
  void run_threads();
  void tune(Reader& reader);
  void check_pass();

  std::unique_ptr<Device> make_device();
  std::unique_ptr<Engine> make_engine(bool writes);
  void transfer(Request& request, bool writes);
  void change_at_times();

  void begin(std::size_t, Stream&) override { at(Place::begin); }
  bool selects() const noexcept override { return scenario_.selects; }
  void process(std::size_t lane, Stream& stream, const StepRecords& in,
               const StepResults& out) override;
  void end(std::size_t, Stream&) override { at(Place::end); }

  World& world_;
  const Scenario& scenario_;
  Random random_{scenario_.seed};
  Complaint complaint_;
  SequentialPlan plan_, output_plan_;
  std::size_t input_slot_bytes_;
  ResultPlaces places_;
  ChunkPool pool_;
  SlotOwners owners_{pool_, complaint_};
  std::unique_ptr<Device> device_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  Troubles troubles_{scenario_.troubles, pool_};
  Ledger ledger_{scenario_, world_.result_of(scenario_), complaint_};
  MarginLedger margins_{scenario_, world_, complaint_};

  // State of the current pass.
  std::optional<LocalBlocks> blocks_;  // of the data, of which other devices take some
  std::optional<Checksum> checksum_;
  std::optional<QueueTuner> tuner_;
  std::optional<Reader> reader_;
  std::optional<Writer> writer_;
  std::vector<std::uint64_t> made_{};  // by step
  std::size_t tuned_depth_ = 0;        // wanted by the tuner when the last chunk was begun
  std::size_t resizes_ = 0, tunings_ = 0;
};

Simulation::Simulation(World& world, const Scenario& scenario)
    : world_(world),
      scenario_(scenario),
      plan_(scenario.plan()),
      output_plan_(scenario.output_plan()),
      input_slot_bytes_(scenario.input_slot_bytes()),
      places_(places_of(output_plan_, scenario.selects, scenario.on_gpu ? 0 : input_slot_bytes_)),
      pool_(heap_memory(), scenario.slots,
            std::max(input_slot_bytes_, places_.in_slot + places_.bytes), plan_.max_extents()),
      device_(make_device()) {
  for (std::size_t step = 0; step < plan_.steps(); ++step) made_.push_back(scenario.made(step));
  for (std::size_t i = 0; i < scenario.lanes; ++i) {
    lanes_.push_back(std::make_unique<Lane>(*device_, i));
  }
}

Outcome Simulation::run() {
  run_pass();
  Outcome outcome{.failed = troubles_.ended_it(),
                  .stopped = troubles_.was_stopped(),
                  .resizes = resizes_,
                  .tunings = tunings_,
                  .checksums = checksum_ && !troubles_.ended_it() ? 1u : 0u,
                  .complaint = {}};
  // After an error this device may still have work, unlike a real one. It is not used again.
  if ((outcome.failed || outcome.stopped) && !troubles_.have_struck_at(Place::device)) {
    troubles_.restart(false);
    run_pass();
  }
  outcome.complaint = complaint_.text();
  return outcome;
}

/// Called at every place of a pass. Yields at random, and throws at a trouble.
void Simulation::at(Place place) {
  if (random_.one_in(30)) std::this_thread::yield();
  if (blocks_ && random_.one_in(8)) {  // another device takes the next block
    const std::uint64_t block = blocks_->draw().value_or(plan_.steps());
    const std::size_t first = block * scenario_.block_steps;
    ledger_.take_elsewhere(first, first + scenario_.block_steps);
  }
  troubles_.come_to(place);
}

void Simulation::run_pass() {
  ledger_.restart();
  margins_.restart();
  if (scenario_.is_shared()) {
    blocks_.emplace(troubles_.stop());
    const std::shared_ptr<Share> share = scenario_.share_of(*blocks_);
    plan_ = scenario_.plan(share);
    output_plan_ = scenario_.output_plan(share);
  }
  checksum_.reset();
  if (scenario_.checksummed) checksum_.emplace();
  tuner_.reset();
  if (scenario_.tuned) tuner_.emplace(scenario_.tuner());
  tuned_depth_ = scenario_.first_depth;
  owners_.restart();
  std::ranges::fill(pool_.memory(), paint);
  const bool copies = scenario_.on_gpu;
  const std::size_t inputs = copies ? (plan_.pieces_per_step() == 1 ? 2 : 1) : scenario_.gathers();
  for (const auto& lane : lanes_) {
    lane->reserve({.step = place_in_step(plan_, plan_.inputs()),
                   .inputs = inputs,
                   .result = copies && scenario_.writes ? places_.bytes : 0});
  }
  pool_.restart(scenario_.reads_ahead ? scenario_.slots : scenario_.first_slots);
  try {
    run_threads();
  } catch (const Troubles::Failure& failure) {
    troubles_.ended_with(failure);
  } catch (const Aborted&) {
    complaint_.add("the pass threw Aborted");
  } catch (const std::exception& error) {
    complaint_.add(error.what());
  }
  check_pass();
}

/// Runs a pass as a coordinator does, with the simulation's reader and writer.
void Simulation::run_threads() {
  PassOptions wanted{.stop = troubles_.stop()};
  if (scenario_.observed) {
    wanted.observe = [this](const TraceEvent& event) {
      if (scenario_.reads_inline && event.kind == TraceEvent::Kind::read) {
        owners_.hand_over(event.worker, event.chunk, Owner::none, Owner::lane);
      }
      at(Place::event);
    };
  }
  std::optional<InlineReaders> inline_readers;
  if (scenario_.reads_inline) {
    const IoConfig config{.block_bytes = scenario_.block_bytes};
    std::vector<const File*> files;
    for (const File& file : files_of(world_.source)) files.push_back(&file);
    inline_readers.emplace(files, plan_, pool_, config, lanes_.size(), wanted);
  }
  Observer reads(*this, false), writes(*this, true);
  reader_.emplace(files_of(world_.source), plan_, pool_, make_engine(false), scenario_.block_bytes,
                  scenario_.direct);
  SimulatedOutput written(world_, scenario_, plan_, places_, pool_.window());
  Appender* const appender = written.appender();
  const Output& output = written.output();
  writer_.emplace(std::vector<OutputFile*>{&output.file},
                  appender != nullptr ? static_cast<const Plan&>(*appender) : output_plan_, pool_,
                  make_engine(true), scenario_.block_bytes, scenario_.direct);
  reader_->set_observer(reads);
  writer_->set_observer(writes);
  if (tuner_) tune(*reader_);
  std::vector<StoredRecords> inputs;
  for (std::size_t i = 0; i < scenario_.records.size(); ++i) {
    inputs.push_back({scenario_.records[i], place_in_step(plan_, i), scenario_.swapped_bytes(i)});
  }
  const Stopwatch watch;
  // If data are shared, a stop ends the blocks, and those that were taken are finished.
  Tickets tickets(plan_.steps(), blocks_ ? std::stop_token() : wanted.stop);
  const PassParts parts{.plan = plan_,
                        .pool = pool_,
                        .tickets = tickets,
                        .readers = inline_readers ? &*inline_readers : nullptr,
                        .operation = *this,
                        .checksum = checksum_ ? &*checksum_ : nullptr,
                        .inputs = std::move(inputs),
                        .watch = watch,
                        .observe = wanted.observe,
                        .outputs = {&output, scenario_.writes ? 1u : 0u},
                        .places = places_,
                        .appender = appender};
  Pass pass(parts, lanes_, scenario_.reads_inline ? nullptr : &*reader_, nullptr,
            scenario_.writes ? &*writer_ : nullptr);
  const auto prepare = [&] {
    for (const auto& lane : lanes_) lane->prepare(wanted.observe);
    if (scenario_.reads_ahead) pool_.set_limit(scenario_.first_slots);
  };
  pass.run(prepare, [this] { at(Place::report); });
}

void Simulation::tune(Reader& reader) {
  const auto chunks_read = [this](std::size_t depth) {
    return divide_up(depth * scenario_.block_bytes, scenario_.chunk_bytes());
  };
  const std::size_t others = scenario_.first_slots - chunks_read(scenario_.first_depth);
  reader.set_tuner(
      *tuner_,
      [this, others, chunks_read](std::size_t depth) {
        pool_.set_limit(others + chunks_read(depth));
      },
      LeapingClock(random_));
}

void Simulation::Observer::begun(std::size_t slot, std::size_t chunk) {
  Simulation& it = simulation_;
  it.at(writes_ ? Place::write_begun : Place::read_begun);
  if (writes_) {
    it.owners_.expect(slot, chunk, Owner::writer);
    return;
  }
  it.owners_.hand_over(slot, chunk, Owner::none, Owner::reader);
  it.change_at_times();
}

void Simulation::Observer::completed(std::size_t slot, std::size_t chunk,
                                     std::uint64_t payload_bytes) {
  Simulation& it = simulation_;
  it.at(writes_ ? Place::write_completed : Place::read_completed);
  const SequentialPlan& plan = writes_ ? it.output_plan_ : it.plan_;
  const bool is_made = writes_ && !it.blocks_;  // else the plan knows
  const std::uint64_t bytes = is_made ? it.ledger_.bytes_of(chunk) : plan.bytes(chunk);
  if (payload_bytes != bytes) it.complaint_.add("a chunk came in part");
  it.owners_.set_bytes_to_copy(slot, payload_bytes);
  it.owners_.hand_over(slot, chunk, writes_ ? Owner::writer : Owner::reader,
                       writes_ ? Owner::none : Owner::lane);
}

/// Called when the reader has begun a chunk. Changes the number of slots in use at random, if the
/// scenario resizes the pool. A tuner changes it itself; its changes are counted.
void Simulation::change_at_times() {
  if (tuner_ && tuned_depth_ != tuner_->wanted()) {
    tuned_depth_ = tuner_->wanted();
    ++tunings_;
  }
  if (!scenario_.resizes || !random_.one_in(3)) return;
  pool_.set_limit(random_.between(1, pool_.size()));
  ++resizes_;
}

std::unique_ptr<Engine> Simulation::make_engine(bool writes) {
  const std::size_t depth = writes ? scenario_.write_depth : scenario_.read_depth;
  const Place first = writes ? Place::write_start : Place::read_start;
  return std::make_unique<FaultyEngine>(
      std::make_unique<RandomEngine>(
          depth, random_, [this, writes](Request& request) { transfer(request, writes); }),
      [this, first](EngineCall call) {
        at(static_cast<Place>(static_cast<std::size_t>(first) + static_cast<std::size_t>(call)));
      });
}

void Simulation::transfer(Request& request, bool writes) {
  const std::optional<std::size_t> slot = owners_.slot_of(request.memory);
  if (!slot || slot != owners_.slot_of(request.memory + request.bytes - 1)) {
    complaint_.add("a request is not in one slot");
    return;
  }
  owners_.expect(*slot, request.chunk, writes ? Owner::writer : Owner::reader);
  if (!writes) {
    const auto file = static_cast<std::size_t>(request.source - files_of(world_.source).data());
    std::memcpy(request.memory, world_.contents[file].data() + request.offset, request.bytes);
    return;
  }
  ledger_.write(request.offset, request.memory, request.bytes);
}

std::unique_ptr<Device> Simulation::make_device() {
  std::unique_ptr<Device> device = ooc::make_device(DeviceKind::cpu);
  if (scenario_.on_gpu) {
    device = std::make_unique<LateDevice>(
        Lateness{.eagerness = [this] { return random_.one_in(2) ? 0 : random_.below(4); },
                 .copied =
                     [this](const void* target, const void* source, std::size_t bytes) {
                       owners_.note_copy(target, source, bytes, scenario_.writes);
                     }});
  }
  return std::make_unique<WrappedDevice>(
      std::move(device), [this](DeviceCall) { at(Place::device); }, &heap_memory());
}

/// Copies its inputs to the ledger, or the first to the output as elements of another size.
void Simulation::process(std::size_t lane, Stream& stream, const StepRecords& in,
                         const StepResults& results) {
  at(Place::process);
  const DeviceSpan<std::byte> out =
      scenario_.writes ? results.outputs.front() : DeviceSpan<std::byte>{};
  const std::size_t step = ledger_.step_at(in.first);
  const bool is_in_place = blocks_ || in.index == step;
  if (!ledger_.take(lane, step) || !is_in_place || !is_right(in, plan_, scenario_) ||
      out.size != scenario_.output_bytes(in.count)) {
    complaint_.add("a lane got a step twice, in part, or not in rising order");
    return;
  }
  const std::size_t slot = owners_.slot_of_lane_with(in.index);
  if (!scenario_.on_gpu) owners_.expect(slot, in.index, Owner::lane);
  const std::size_t to =
      scenario_.writes ? scenario_.output_element_bytes : scenario_.record_bytes();
  std::byte* target = scenario_.writes ? out.data : ledger_.seen(in.first);
  if (scenario_.writes) stream.fill_zero(out.data, out.size);
  for (std::size_t i = 0; i < (scenario_.writes ? 1 : in.inputs.size()); ++i) {
    const std::size_t from = scenario_.records[i].bytes;
    const std::byte* const first = in.inputs[i].data + in.margin.before * from;
    stream.copy_rows(target, to, first, from, std::min(from, to), in.count);
    target += from;
  }
  margins_.copy(stream, in, step);
  if (scenario_.selects) {
    stream.copy(results.made, &made_[step], sizeof(made_[step]));
    owners_.set_bytes_to_come(slot, sizeof(made_[step]) + ledger_.bytes_of(step));
  } else {
    owners_.set_bytes_to_come(slot, out.size);
  }
  at(Place::processed);
  if (scenario_.on_gpu) return;  // there note_copy() records the new owner
  owners_.hand_over(slot, in.index, Owner::lane, scenario_.writes ? Owner::writer : Owner::none);
}

void Simulation::check_pass() {
  const bool has_failed = troubles_.ended_it();
  if (has_failed != troubles_.have_struck()) complaint_.add("an error was lost");
  if (troubles_.ended_it_with_an_echo()) complaint_.add("the error is not the first one");
  for (const bool writes : {false, true}) {
    const Place death = writes ? Place::write_wait : Place::read_wait;
    const Engine& engine = writes ? writer_->engine() : reader_->engine();
    if (engine.in_flight() != 0 && !troubles_.have_struck_at(death)) {
      complaint_.add("requests were left in flight");
    }
  }
  if (has_failed) return ledger_.check_failed_pass();
  ledger_.check_prefix(troubles_.was_stopped());
  margins_.check(ledger_);
  if (!checksum_) return;
  const std::size_t steps = ledger_.steps();
  const std::size_t records = steps < plan_.steps() ? plan_.step(steps).first : plan_.records();
  if (checksum_->text() != world_.checksum_of(scenario_, records)) {
    complaint_.add("a wrong checksum");
  }
}

}  // namespace

Outcome simulate(World& world, const Scenario& scenario) {
  return Simulation(world, scenario).run();
}

}  // namespace ooc::detail::test
