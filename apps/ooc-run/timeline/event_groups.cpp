#include "timeline/event_groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "cli/sizes.hpp"

namespace ooc_run {
namespace {

void add_stroke(EventGroup& group, const DrawnEvent& drawn) {
  if (group.strokes.empty() || drawn.begin > group.strokes.back().end) {
    group.strokes.push_back({drawn.begin, drawn.end});
  } else {
    EventGroup::Stroke& last = group.strokes.back();
    last.end = std::max(last.end, drawn.end);
  }
}

void add(EventGroup& group, const DrawnEvent& drawn) {
  const ooc::TraceEvent& event = drawn.event;
  add_stroke(group, drawn);
  ++group.count;
  group.first_chunk = std::min(group.first_chunk, event.chunk);
  group.last_chunk = std::max(group.last_chunk, event.chunk);
  group.bytes += event.bytes;
  group.seconds += std::chrono::duration<double>(event.end - event.begin).count();
}

}  // namespace

std::string EventGroup::description(std::string_view name) const {
  std::string text(name);
  if (last_chunk != ooc::TraceEvent::no_chunk) {
    text += fmt::format(" {}", first_chunk);
    if (first_chunk != last_chunk) text += fmt::format(" to {}", last_chunk);
  }
  if (count > 1) text += fmt::format(", {} times", count);
  return fmt::format("{}: {} in {}", text, format_decimal_bytes(static_cast<double>(bytes)),
                     format_seconds(seconds));
}

std::vector<EventGroup> group_events(std::vector<DrawnEvent> track, int reach) {
  std::ranges::stable_sort(track, {}, &DrawnEvent::begin);
  std::vector<EventGroup> groups;
  for (const DrawnEvent& drawn : track) {
    const ooc::TraceEvent& event = drawn.event;
    const bool goes_on = !groups.empty() && event.kind == groups.back().kind &&
                         drawn.begin - groups.back().strokes.front().begin < reach;
    if (!goes_on) {
      groups.push_back({.kind = event.kind,
                        .strokes = {},
                        .first_chunk = event.chunk,
                        .last_chunk = event.chunk});
    }
    add(groups.back(), drawn);
  }
  return groups;
}

}  // namespace ooc_run
