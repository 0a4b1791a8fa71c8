#include "timeline/run_record.hpp"

#include <algorithm>
#include <cstdlib>

namespace ooc_run {
namespace {

constexpr std::size_t most_pieces = 16;  // even
constexpr std::size_t most_bins = 512;
constexpr auto finest_bin = std::chrono::milliseconds{1};

using Kind = ooc::TraceEvent::Kind;

}  // namespace

RunRecord::RunRecord(std::size_t most)
    : most_(most),
      pieces_(most_pieces),
      read_(finest_bin, most_bins),
      written_(finest_bin, most_bins) {
  for (auto& piece : pieces_) piece.reserve(most_);  // untouched pages take no memory
  latest_.reserve(most_);
}

RunRecord::Time RunRecord::time_of(Clock::time_point when) const {
  if (!start_) return {};
  return std::max(Time{}, std::chrono::duration_cast<Time>(when - *start_));
}

void RunRecord::record(const ooc::TraceEvent& event) {
  const std::scoped_lock lock(mutex_);
  if (finished_) return;
  if (!start_) start_ = event.begin;
  const Time begin = time_of(event.begin), end = std::max(begin, time_of(event.end));
  duration_ = std::max(duration_, end);
  if (event.kind == Kind::read) read_.add(begin, end, event.bytes);
  if (event.kind == Kind::write) written_.add(begin, end, event.bytes);
  keep_in_pieces(event, begin, end);
  if (latest_.size() < most_) {
    latest_.push_back(event);
  } else {
    latest_[recorded_ % most_] = event;
  }
  ++recorded_;
}

void RunRecord::finish() {
  const std::scoped_lock lock(mutex_);
  finished_ = true;
}

/// Adds an event to each kept piece that it overlaps.
void RunRecord::keep_in_pieces(const ooc::TraceEvent& event, Time begin, Time end) {
  const auto most = static_cast<std::int64_t>(most_pieces);
  while (end / window_length / stride_ >= most) keep_every_other_piece();
  const std::int64_t before_begin = (begin / window_length + stride_ - 1) / stride_;
  const std::int64_t last = end / window_length / stride_;
  for (std::int64_t i = before_begin; i <= last; ++i) {
    auto& piece = pieces_[static_cast<std::size_t>(i)];
    if (piece.size() < most_) piece.push_back(event);
  }
}

void RunRecord::keep_every_other_piece() {
  for (std::size_t i = 1; i < most_pieces / 2; ++i) std::swap(pieces_[i], pieces_[2 * i]);
  for (std::size_t i = most_pieces / 2; i < most_pieces; ++i) pieces_[i].clear();
  stride_ *= 2;
}

/// Returns the end of a piece. A full piece lacks later events, so it ends with its last event.
RunRecord::Time RunRecord::end_of_piece(std::size_t piece_index) const {
  const Time end = window_length * (static_cast<std::int64_t>(piece_index) * stride_ + 1);
  const auto& piece = pieces_[piece_index];
  if (piece.size() < most_) return std::min(end, duration_);
  return std::min({end, duration_, time_of(piece.back().end)});
}

RunRecord::Window RunRecord::window(Part part, Time begin, Time end,
                                    const std::vector<ooc::TraceEvent>& events) const {
  Window window{part, begin, end, {}};
  for (const ooc::TraceEvent& event : events) {
    const bool overlaps = time_of(event.begin) < end && time_of(event.end) > begin;
    if (overlaps) window.events.push_back(event);
  }
  return window;
}

RunRecord::Window RunRecord::first_window() const {
  return window(Part::first, Time{}, end_of_piece(0), pieces_[0]);
}

RunRecord::Window RunRecord::last_window(Time not_before) const {
  Time begin = std::max(not_before, duration_ - window_length);
  if (recorded_ > most_) {
    const ooc::TraceEvent& oldest = latest_[recorded_ % most_];
    begin = std::max(begin, time_of(oldest.end));
  }
  return window(Part::last, begin, duration_, latest_);
}

std::optional<RunRecord::Window> RunRecord::middle_window(Time not_before, Time not_after) const {
  std::optional<Window> best;
  Time least{};
  for (std::size_t i = 1; i < most_pieces; ++i) {
    const Time piece_begin = window_length * (static_cast<std::int64_t>(i) * stride_);
    const Time begin = std::max(piece_begin, not_before);
    const Time end = std::min(end_of_piece(i), not_after);
    if (begin >= end) continue;
    const Time off = std::chrono::abs(piece_begin + window_length / 2 - duration_ / 2);
    if (best && off >= least) continue;
    best = Window{Part::middle, begin, end, {}};
    least = off;
    best = window(Part::middle, begin, end, pieces_[i]);
  }
  return best;
}

std::vector<RunRecord::Window> RunRecord::windows() const {
  if (!start_) return {};
  std::vector<Window> windows{first_window()};
  const Window last = last_window(windows.front().end);
  auto middle = middle_window(windows.front().end, last.begin);
  if (middle) windows.push_back(std::move(*middle));
  if (last.begin < last.end) windows.push_back(last);
  return windows;
}

}  // namespace ooc_run
