#include "parts/sections.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/inputs/pass_inputs.hpp>
#include <ooc/detail/parts/checkpoint_file.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "observe/stopwatch.hpp"

namespace ooc::detail {

namespace {

/// Returns the records of an input as a source of its own.
Source section_of(const PassInput& input, const RecordRange& records) {
  const Source& source = input.source;
  const std::size_t element_bytes = source.element_bytes();
  const std::uint64_t before = records_before(input);
  return section(source, (records.first - before) * input.record.bytes / element_bytes,
                 records.count * input.record.bytes / element_bytes);
}

/// Returns the chunks of a pass that were processed. `record_bytes`: of all inputs.
std::size_t chunks_done(const Stats& stats, std::size_t record_bytes) {
  if (!stats.outcome.partial) return stats.layout.chunks;
  return divide_up(stats.outcome.records, stats.layout.chunk_bytes / record_bytes);
}

}  // namespace

InputSections::InputSections(std::span<const PassInput> inputs, const RecordRange& records) {
  for (const PassInput& input : inputs) sources_.push_back(section_of(input, records));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs_.push_back({sources_[i], inputs[i].record, inputs[i].decoding});
  }
}

Sections::Sections(std::span<const PassInput> inputs, std::size_t partition,
                   const PassOptions& wanted)
    : inputs_(inputs),
      partition_(partition),
      wanted_(wanted),
      all_{records_before(inputs.front()), records_of(inputs.front())} {
  if (wanted.checksum) {
    throw Error(ErrorKind::usage, "a job with a checkpoint has no checksum",
                {.why = "a checksum is of the bytes of one pass, and such a job may have several",
                 .remedies = {{RemedyAction::unset, "PassOptions::checksum"}}});
  }
  for (const PassInput& input : inputs) {
    if (partition * input.record.bytes % input.source.element_bytes() == 0) continue;
    throw Error(ErrorKind::usage,
                input.source.name() + ": a partition is not a whole number of elements",
                {.why = "the job goes on after any partition, and at the beginning of an element"});
  }
  options_ = wanted;
  options_.keep_partial = true;
  options_.progress = [this](const Progress& progress) { show(progress); };
}

void Sections::go_on_after(std::span<const RecordRange> covered) {
  std::uint64_t count = 0;
  for (const RecordRange& range : covered) {
    if (range.first < all_.first || range.end() > all_.end()) {
      throw Error(ErrorKind::bad_input, "a saved partial result covers records that are not there");
    }
    count += range.count;
  }
  stats_.outcome.records = saved_records_ = count;
  stats_.outcome.resumed_bytes = stats_.outcome.bytes = count * stored_bytes_of(inputs_);
}

bool Sections::is_done(std::span<const RecordRange> covered) const {
  if (all_.count == 0) return covered.empty();
  return covered.size() == 1 && covered.front() == all_;
}

std::uint64_t Sections::records_until_save() const {
  if (wanted_.checkpoint.every_seconds <= 0) return partition_;
  if (records_per_second_ == 0) return all_.count;
  const double left = std::max(wanted_.checkpoint.every_seconds - seconds_since_save(), 0.0);
  const double records = std::min(left * records_per_second_, static_cast<double>(all_.count));
  return std::max<std::uint64_t>(round_down(static_cast<std::uint64_t>(records), partition_),
                                 partition_);
}

std::span<const PassInput> Sections::next(std::span<const RecordRange> covered) {
  RecordRange range = is_done(covered) ? RecordRange{all_.first, 0} : all_;
  for (const RecordRange& there : covered) {
    if (range.count == 0) break;
    if (there.first > range.first) {
      range.count = there.first - range.first;
      break;
    }
    range = {there.end(), all_.end() - there.end()};
  }
  range.count = std::min(range.count, records_until_save());
  section_.emplace(inputs_, range);
  const bool is_first = stats_.layout.chunks == 0;
  constexpr double shortest = 0.1;  // shorter ones would be stopped before their first step
  const double every = std::max(wanted_.checkpoint.every_seconds, shortest);
  longest_seconds_ = (is_first ? every : 2 * every) * patience_;
  forward_.reset();
  stop_ = std::stop_source();
  forward_.emplace(wanted_.stop, [this] { stop_.request_stop(); });
  options_.stop = stop_.get_token();
  if (wanted_.observe) {
    options_.observe = [this, before = stats_.layout.chunks](TraceEvent event) {
      if (event.chunk != TraceEvent::no_chunk) event.chunk += before;
      wanted_.observe(event);
    };
  }
  return section_->inputs();
}

void Sections::show(Progress progress) {
  if (seconds_since_save() >= longest_seconds_) stop_.request_stop();
  if (!wanted_.progress) return;
  // A pass that is stopped has read more than it has processed, which is read again.
  shown_bytes_ = progress.bytes = std::max(shown_bytes_, progress.bytes + stats_.outcome.bytes);
  progress.resumed_bytes = stats_.outcome.resumed_bytes;
  progress.total_bytes = all_.count * stored_bytes_of(inputs_);
  progress.seconds += stats_.timing.seconds;
  wanted_.progress(progress);
}

void Sections::add(const Stats& stats) {
  const bool is_first = stats_.layout.chunks == 0;
  const OutcomeStats before = stats_.outcome;
  const LayoutStats first = is_first ? stats.layout : stats_.layout;
  const double startup = is_first ? stats.timing.startup_seconds : stats_.timing.startup_seconds;
  const std::size_t chunks = stats_.layout.chunks;
  stats_.layout = first;
  if (stats.outcome.records >= largest_records_) {
    stats_ += stats;
  } else {  // a short section has other sizes
    Stats both = stats;
    stats_ = both += stats_;
  }
  largest_records_ = std::max(largest_records_, stats.outcome.records);
  stats_.layout.page_cache_fraction = first.page_cache_fraction;
  stats_.layout.reasons = first.reasons;
  stats_.layout.chunks = chunks + chunks_done(stats, stored_bytes_of(inputs_));
  stats_.timing.startup_seconds = startup;
  stats_.outcome.records = before.records + stats.outcome.records;
  stats_.outcome.bytes = before.bytes + stats.outcome.bytes;
  stats_.outcome.resumed_bytes = before.resumed_bytes;
  stats_.outcome.checkpoints = before.checkpoints;
  stats_.outcome.passes = 1;
  stats_.outcome.partial = false;
  const auto records = static_cast<double>(stats.outcome.records);
  if (stats.timing.seconds > 0 && records > 0) {
    records_per_second_ = records / stats.timing.seconds;
    patience_ = 1;
  } else {
    patience_ *= 2;  // it was stopped before its first step
  }
}

double Sections::seconds_since_save() const {
  return std::chrono::duration<double>(Clock::now() - saved_).count();
}

bool Sections::is_due() const {
  constexpr double nearly = 0.9;  // a section that short would cost as much as it saves
  return seconds_since_save() >= nearly * wanted_.checkpoint.every_seconds;
}

void Sections::save(const std::function<void()>& make_durable, const std::function<void()>& save) {
  const Stopwatch watch;
  make_durable();
  try {
    save();
    ++stats_.outcome.checkpoints;
    saved_records_ = stats_.outcome.records;
    why_not_saved_.clear();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::output) throw;
    why_not_saved_ = error.what();
    add_unsaved_remark(error, stats_);
  }
  stats_.timing.checkpoint_seconds += watch.seconds();
  stats_.timing.seconds += watch.seconds();
  saved_ = Clock::now();
}

Error Sections::interrupted(std::span<const std::string> kept_files) const {
  const auto all = static_cast<double>(all_.count);
  const double percent = 100 * static_cast<double>(saved_records_) / all;
  std::string what = "interrupted; " + wanted_.checkpoint.file.string();
  for (const std::string& name : kept_files) what += " and " + name;
  what += kept_files.empty() ? " has what was found in " : " have what was made of ";
  what += std::to_string(static_cast<int>(percent)) + " % of the data";
  return {ErrorKind::interrupted,
          why_not_saved_.empty() ? what : what + ", and no more: " + why_not_saved_,
          {.path = wanted_.checkpoint.file, .hint = "the same job goes on from there"}};
}

}  // namespace ooc::detail
