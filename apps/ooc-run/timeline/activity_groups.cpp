#include "timeline/activity_groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "cli/sizes.hpp"

namespace ooc_run {
namespace {

void add_stroke(ActivityGroup& group, const DrawnActivity& drawn) {
  if (group.strokes.empty() || drawn.begin > group.strokes.back().end) {
    group.strokes.push_back({drawn.begin, drawn.end});
  } else {
    ActivityGroup::Stroke& last = group.strokes.back();
    last.end = std::max(last.end, drawn.end);
  }
}

void add(ActivityGroup& group, const DrawnActivity& drawn) {
  const ooc::Activity& activity = drawn.activity;
  add_stroke(group, drawn);
  ++group.count;
  group.first_chunk = std::min(group.first_chunk, activity.chunk);
  group.last_chunk = std::max(group.last_chunk, activity.chunk);
  group.bytes += activity.bytes;
  group.seconds += std::chrono::duration<double>(activity.end - activity.begin).count();
}

}  // namespace

std::string ActivityGroup::description(std::string_view name) const {
  std::string text(name);
  if (last_chunk != ooc::Activity::no_chunk) {
    text += fmt::format(" {}", first_chunk);
    if (first_chunk != last_chunk) text += fmt::format(" to {}", last_chunk);
  }
  if (count > 1) text += fmt::format(", {} times", count);
  return fmt::format("{}: {} in {}", text, format_decimal_bytes(static_cast<double>(bytes)),
                     format_seconds(seconds));
}

std::vector<ActivityGroup> group_activities(std::vector<DrawnActivity> track, int reach) {
  std::ranges::stable_sort(track, {}, &DrawnActivity::begin);
  std::vector<ActivityGroup> groups;
  for (const DrawnActivity& drawn : track) {
    const ooc::Activity& activity = drawn.activity;
    const bool goes_on = !groups.empty() && activity.kind == groups.back().kind &&
                         drawn.begin - groups.back().strokes.front().begin < reach;
    if (!goes_on) {
      groups.push_back({.kind = activity.kind,
                        .strokes = {},
                        .first_chunk = activity.chunk,
                        .last_chunk = activity.chunk});
    }
    add(groups.back(), drawn);
  }
  return groups;
}

}  // namespace ooc_run
