#pragma once

#include <compare>
#include <cstddef>
#include <ooc/stats.hpp>
#include <string>
#include <string_view>

namespace ooc_run {

/// Returns "read", "h2d", "kernel", "d2h" or "write".
std::string_view name_of(ooc::TraceEvent::Kind kind);

/// Returns the name for pictures. On the CPU, h2d and d2h are "copy in" and "copy out".
std::string_view label_of(ooc::TraceEvent::Kind kind, bool on_cpu);

/// A group of tracks of a timeline. Groups are ordered: the reads, each lane, the writes.
struct TrackGroup {
  int stage = 0;
  std::size_t lane = 0;

  auto operator<=>(const TrackGroup&) const = default;

  /// Returns "read", "write" or, for example, "lane 3".
  std::string name() const;
};

/// A track of a timeline: the reads or writes of one slot, or the events of one lane and kind.
struct EventTrack {
  TrackGroup group;
  std::size_t worker = 0;
  ooc::TraceEvent::Kind kind{};

  auto operator<=>(const EventTrack&) const = default;

  /// Returns the name within the group, for example "slot 5" or "kernel".
  std::string name() const;
};

EventTrack track_of(const ooc::TraceEvent& event);

}  // namespace ooc_run
