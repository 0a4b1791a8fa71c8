#include <ooc/chunks.hpp>
#include <ooc/detail/pass/run_pass.hpp>

#include <ooc/detail/base/threads.hpp>
#include <ooc/detail/partials/partials.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "inputs/type_words.hpp"

namespace ooc {

using namespace detail;
namespace detail {

/// Size of a step on a GPU if the caller gives none. To hand over a step takes as long as to copy a
/// megabyte, so steps are larger than those of a fold (decision 080).
constexpr std::size_t gpu_step_bytes = std::size_t{32} << 20;

/// The step that a lane lends at present.
struct LentStep {
  enum class State { none, offered, lent, returned };

  State state = State::none;  // under the mutex of the Lender
  std::size_t index = 0, count = 0;
  std::uint64_t first = 0;
  std::vector<DeviceSpan<const std::byte>> inputs{};
  std::unique_ptr<Event> ready{}, done{};  // the rows are there; the borrower's work has ended
  std::exception_ptr error{};              // of giving it back
};

/// The operation whose lanes lend their steps, in the order of the pass, to the thread that calls
/// take(). A lane waits until its step is back, so there are as many leases as lanes at most.
class Lender final : public Operation {
 public:
  Lender(Device& device, const Lending& lending, std::vector<ChunkSource> sources,
         std::size_t record_bytes)
      : device_(device),
        lending_(lending),
        sources_(std::move(sources)),
        partition_(records_in(device.facts().uses_host_cores ? cpu_partition_bytes : gpu_step_bytes,
                              record_bytes)) {}

  std::size_t partition() const noexcept override { return partition_; }
  std::optional<Lending> lending() const noexcept override { return lending_; }
  void prepare(std::size_t lanes, std::size_t steps) override;
  void begin(std::size_t /*lane*/, Stream& /*stream*/) override {}
  void process(std::size_t lane, Stream& stream, const StepRecords& in,
               const StepResults& out) override;
  void end(std::size_t lane, Stream& stream) override;
  void abort() noexcept override { close(); }

  /// Waits until take() returns at once, or for some time. Returns true if it would.
  bool wait_for(std::chrono::milliseconds time);

  /// Blocks until the next step is offered, and takes it. Returns null if there are no more, or the
  /// pass has ended. Throws Error(usage) if all steps of the lanes are lent.
  LentStep* take();

  /// The numbers of lanes and of steps of the pass, once it has begun or ended.
  struct Size {
    std::size_t lanes, steps;
  };
  Size size();

  void give_back(LentStep& step, Stream& stream) noexcept;

  /// Called when the borrower wants no more steps, or when the pass has ended.
  void close() noexcept;

  /// Waits for the borrower's work on steps that no lane has taken back, because the lender was
  /// closed. Called after the end of the pass.
  void finish() noexcept;

  bool is_closed() const;
  const Source& source(std::size_t index) const;

 private:
  std::size_t lent() const {
    return static_cast<std::size_t>(
        std::ranges::count(steps_, LentStep::State::lent, &LentStep::state));
  }
  bool has_begun() const { return is_closed_ || !steps_.empty(); }
  bool are_all_lent() const { return lanes_running_ != 0 && lent() == lanes_running_; }
  std::vector<LentStep>::iterator offered() {
    return std::ranges::find_if(steps_, [&](const LentStep& each) {
      return each.state == LentStep::State::offered && each.index == next_;
    });
  }
  bool is_settled() { return is_closed_ || offered() != steps_.end() || are_all_lent(); }

  Device& device_;
  Lending lending_;
  std::vector<ChunkSource> sources_;
  std::size_t partition_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<LentStep> steps_;    // of each lane
  std::size_t lanes_running_ = 0;  // of those that have begun or will
  std::size_t next_ = 0;           // step to be taken
  std::size_t end_ = 0;            // of the steps; of a producer, not known before
  bool is_closed_ = false;
};

void Lender::prepare(std::size_t lanes, std::size_t steps) {
  std::vector<LentStep> of_lanes(lanes);
  for (LentStep& step : of_lanes) {
    step.ready = device_.make_event();
    step.done = device_.make_event();
    step.inputs.reserve(sources_.size());
  }
  const std::scoped_lock lock(mutex_);
  steps_ = std::move(of_lanes);
  lanes_running_ = lanes;
  end_ = steps;
  changed_.notify_all();
}

void Lender::process(std::size_t lane, Stream& stream, const StepRecords& in,
                     const StepResults& /*out*/) {
  LentStep& step = steps_[lane];
  step.index = in.index;
  step.first = in.first;
  step.count = in.count;
  step.inputs.assign(in.inputs.begin(), in.inputs.end());
  stream.record(*step.ready);
  {
    std::unique_lock lock(mutex_);
    if (is_closed_) return;
    step.state = LentStep::State::offered;
    changed_.notify_all();
    changed_.wait(lock, [&] { return step.state == LentStep::State::returned || is_closed_; });
    if (std::exchange(step.state, LentStep::State::none) != LentStep::State::returned) return;
  }
  if (step.error) std::rethrow_exception(std::exchange(step.error, nullptr));
  stream.wait(*step.done);
}

void Lender::end(std::size_t /*lane*/, Stream& /*stream*/) {
  const std::scoped_lock lock(mutex_);
  --lanes_running_;
  changed_.notify_all();
}

bool Lender::wait_for(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [&] { return is_settled(); });
}

LentStep* Lender::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_settled(); });
  if (is_closed_) return nullptr;
  if (const auto step = offered(); step != steps_.end()) {
    step->state = LentStep::State::lent;
    ++next_;
    return &*step;
  }
  // A lane ends only when there are no more steps.
  if (next_ == end_ || lanes_running_ < steps_.size()) return nullptr;
  throw Error(ErrorKind::usage,
              "all chunks that can be on the device at once are lent: " + std::to_string(lent()),
              {.why = "there is no memory for another",
               .hint = "let a Lease die before the next call",
               .remedies = {{RemedyAction::raise, "Options::streams"}}});
}

Lender::Size Lender::size() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return has_begun(); });
  return {steps_.size(), end_};
}

void Lender::give_back(LentStep& step, Stream& stream) noexcept {
  try {
    stream.record(*step.done);
  } catch (...) {
    step.error = std::current_exception();
  }
  const std::scoped_lock lock(mutex_);
  step.state = LentStep::State::returned;
  changed_.notify_all();
}

void Lender::close() noexcept {
  const std::scoped_lock lock(mutex_);
  is_closed_ = true;
  changed_.notify_all();
}

void Lender::finish() noexcept {
  for (LentStep& step : steps_) {
    if (std::exchange(step.state, LentStep::State::none) != LentStep::State::returned) continue;
    try {
      if (!step.error) step.done->synchronize();
    } catch (...) {  // the GPU is lost, and its memory is not used again
    }
  }
}

bool Lender::is_closed() const {
  const std::scoped_lock lock(mutex_);
  return is_closed_;
}

const Source& Lender::source(std::size_t index) const {
  if (index < sources_.size()) return *sources_[index].source;
  throw Error(ErrorKind::usage, "there is no source " + std::to_string(index),
              {.why = "the chunks have " + std::to_string(sources_.size()) + ", from 0 on"});
}

void GiveBack::operator()(LentStep* step) const noexcept {
  lender->give_back(*step, *stream);
}

}  // namespace detail

std::uint64_t Lease::first() const noexcept {
  return step_->first;
}

std::size_t Lease::count() const noexcept {
  return step_->count;
}

DeviceSpan<const std::byte> Lease::bytes(std::size_t source) const {
  step_.get_deleter().lender->source(source);  // or throws
  return step_->inputs[source];
}

void Lease::require_type(std::size_t source, const DType& wanted) const {
  const Source& held = step_.get_deleter().lender->source(source);
  if (held.type() && held.type()->is_struct() && wanted.is_struct()) {
    if (detail::decoding_of(held, wanted).moves.empty()) return;
  } else if (held.type() && !held.type()->is_struct() && !wanted.is_struct() &&
             held.element() == wanted.element) {
    return;
  }
  throw Error(ErrorKind::usage,
              held.name() + ": holds " +
                  (held.type() ? detail::words_for(*held.type()) : "plain bytes") + ", not " +
                  detail::words_for(wanted),
              {.why = "rows<T>() gives the elements as they are",
               .hint = held.type() ? "" : "ooc::open(path, {.type = ...}) gives them a type"});
}

// The order matters: the thread uses the members before it.
struct Chunks::State {
  State(Coordinator& used, const std::vector<detail::ChunkSource>& sources, ChunksOptions given);
  ~State();

  void run();
  void finish();
  Stream& borrowed(void* cuda_stream);

  Coordinator& coordinator;
  ChunksOptions options;
  Reservation pass;
  std::vector<PassInput> inputs;
  std::shared_ptr<detail::Lender> lender;
  std::map<void*, std::unique_ptr<Stream>> streams;  // of the caller
  std::stop_source stop;
  std::stop_callback<std::function<void()>> forward;
  Stats stats;
  std::exception_ptr error;
  bool has_ended = false;  // for the caller
  std::jthread thread;
};

namespace {

std::vector<PassInput> inputs_of(const std::vector<detail::ChunkSource>& sources) {
  std::vector<PassInput> inputs;
  for (const auto& [source, resident] : sources) {
    const std::size_t element = size_of(source->type().value_or(DType{}));
    inputs.push_back({.source = *source,
                      .record = RecordShape(detail::row_bytes_of(*source, element),
                                            RecordShape(element).alignment),
                      .decoding = {},
                      .resident = resident});
  }
  return inputs;
}

Lending lending_of(const ChunksOptions& options) {
  if (options.shard < options.shards) {
    return {options.rows, options.shuffle_seed, options.shard, options.shards, options.skip};
  }
  throw Error(ErrorKind::usage,
              "there is no shard " + std::to_string(options.shard) + " of " +
                  std::to_string(options.shards),
              {.why = "shards are numbered from 0 on"});
}

}  // namespace

Chunks::State::State(Coordinator& used, const std::vector<detail::ChunkSource>& sources,
                     ChunksOptions given)
    : coordinator(used),
      options(std::move(given)),
      pass(begin_pass(used)),
      inputs(inputs_of(sources)),
      lender(std::make_shared<detail::Lender>(used.device(), lending_of(options), sources,
                                              detail::record_bytes_of(inputs))),
      forward(options.pass.stop, [this] { stop.request_stop(); }),
      thread(start_thread([this](const std::stop_token&) { run(); })) {}

/// Ends the pass. Drops steps that were read and not lent.
Chunks::State::~State() {
  stop.request_stop();
  lender->close();
  if (thread.joinable()) thread.join();
  lender->finish();
}

void Chunks::State::run() {
  try {
    PassOptions wanted = options.pass;
    wanted.stop = stop.get_token();
    wanted.keep_partial = true;  // next() says that it was stopped
    stats = run_pass(coordinator, pass, inputs, *lender, wanted);
  } catch (...) {
    error = std::current_exception();
  }
  pass.unbind_thread();  // the reservation dies on another thread
  lender->close();
}

/// Called at the end of the data, or of the pass if that came before.
void Chunks::State::finish() {
  if (!lender->is_closed()) return;  // the last chunks are lent
  if (thread.joinable()) thread.join();
  has_ended = true;
  if (error) std::rethrow_exception(error);
  if (stats.outcome.partial && !options.pass.keep_partial) {
    throw Error(ErrorKind::interrupted, "interrupted");
  }
}

Stream& Chunks::State::borrowed(void* cuda_stream) {
  std::unique_ptr<Stream>& stream = streams[cuda_stream];
  if (!stream) stream = coordinator.device().borrow_stream(cuda_stream);
  return *stream;
}

Chunks::Chunks(Coordinator& coordinator, const std::vector<detail::ChunkSource>& sources,
               ChunksOptions options)
    : state_(std::make_unique<State>(coordinator, sources, std::move(options))) {}

Chunks::~Chunks() = default;
Chunks::Chunks(Chunks&&) noexcept = default;

std::optional<Lease> Chunks::next(Stream& stream) {
  detail::LentStep* const step = state_->lender->take();
  if (step == nullptr) {
    state_->finish();
    return std::nullopt;
  }
  Lease lease({step, detail::GiveBack{state_->lender, &stream}});
  stream.wait(*step->ready);
  return lease;
}

std::optional<Lease> Chunks::next(void* cuda_stream) {
  return next(state_->borrowed(cuda_stream));
}

bool Chunks::wait_for(std::chrono::milliseconds time) {
  return state_->lender->wait_for(time);
}

std::optional<std::size_t> Chunks::size() const {
  const std::size_t steps = state_->lender->size().steps;
  if (state_->inputs.front().source.is_produced()) return std::nullopt;
  return steps;
}

std::size_t Chunks::most_leases() const {
  return state_->lender->size().lanes;
}

const Stats& Chunks::stats() const {
  if (state_->has_ended && !state_->error) return state_->stats;
  throw Error(ErrorKind::usage, "the chunks have no statistics yet",
              {.why = "their pass has not ended",
               .hint = "call next() until it returns nothing, and let all leases die before"});
}

}  // namespace ooc
