#include "operators/lender.hpp"

#include <ooc/detail/partials/partials.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace ooc::detail {

namespace {

/// Size of a step on a GPU if the caller gives none. To hand over a step takes as long as to copy a
/// megabyte, so steps are larger than those of a fold (decision 080).
constexpr std::size_t gpu_step_bytes = std::size_t{32} << 20;

}  // namespace

Lender::Lender(Device& device, const Lending& lending, std::vector<ChunkSource> sources,
               std::size_t record_bytes)
    : device_(device),
      lending_(lending),
      sources_(std::move(sources)),
      partition_(records_in(device.facts().uses_host_cores ? cpu_partition_bytes : gpu_step_bytes,
                            record_bytes)) {}

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
  has_begun_ = true;
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

std::optional<Lender::Size> Lender::size() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return has_begun_ || is_closed_; });
  if (has_failed_ && !has_begun_) return std::nullopt;
  return Size{steps_.size(), end_};  // a pass over nothing has no lanes
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

void Lender::fail() noexcept {
  const std::scoped_lock lock(mutex_);
  has_failed_ = is_closed_ = true;
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

}  // namespace ooc::detail
