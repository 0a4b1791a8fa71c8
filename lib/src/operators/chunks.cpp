#include <ooc/chunks.hpp>
#include <ooc/detail/pass/run_pass.hpp>

#include <ooc/detail/base/threads.hpp>
#include <ooc/error.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "inputs/type_words.hpp"
#include "operators/lender.hpp"

namespace ooc {

using namespace detail;

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
  std::stop_source stop, abandon;
  std::stop_callback<std::function<void()>> forward, forward_abandon;
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
    const RecordShape row(detail::row_bytes_of(*source, element), RecordShape(element).alignment);
    inputs.push_back(detail::stored_input(*source, row));
    inputs.back().resident = resident;
  }
  detail::use_device_memory(inputs);
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
      forward_abandon(options.pass.abandon, [this] { abandon.request_stop(); }),
      thread(start_thread([this](const std::stop_token&) { run(); })) {}

/// Ends the pass. Drops steps that were read and not lent.
Chunks::State::~State() {
  stop.request_stop();
  abandon.request_stop();
  lender->close();
  if (thread.joinable()) thread.join();
  lender->finish();
}

void Chunks::State::run() {
  try {
    PassOptions wanted = options.pass;
    wanted.stop = stop.get_token();
    wanted.abandon = abandon.get_token();
    wanted.keep_partial = true;  // next() says that it was stopped
    stats = run_pass(coordinator, pass, inputs, *lender, wanted);
  } catch (...) {
    error = std::current_exception();
    lender->fail();
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
  const auto size = state_->lender->size();
  const Source& source = state_->inputs.front().source;
  return source.is_produced() || !size ? std::nullopt : std::optional(size->steps);
}

std::size_t Chunks::most_leases() const {
  const auto size = state_->lender->size();
  return size ? size->lanes : 0;
}

const Stats& Chunks::stats() const {
  if (state_->has_ended && !state_->error) return state_->stats;
  throw Error(ErrorKind::usage, "the chunks have no statistics yet",
              {.why = "their pass has not ended",
               .hint = "call next() until it returns nothing, and let all leases die before"});
}

}  // namespace ooc
