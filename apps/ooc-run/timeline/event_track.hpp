#pragma once

#include <compare>
#include <cstddef>
#include <ooc/trace_event.hpp>
#include <string>
#include <string_view>

namespace ooc_run {

/// "read", "h2d", "kernel", "d2h" or "write".
std::string_view name_of(ooc::TraceEvent::Kind kind);

/// The same, except that a CPU has no device to copy to: "copy in" and "copy out" there.
std::string_view label_of(ooc::TraceEvent::Kind kind, bool on_cpu);

/// Tracks of a timeline lie in groups, in this order: the reads, each lane, the writes.
struct TrackGroup {
  int stage = 0;
  std::size_t lane = 0;

  auto operator<=>(const TrackGroup&) const = default;

  /// "read", "lane 3", "write".
  std::string name() const;
};

/// Where on a timeline an event is drawn: with all others of its slot, or of its lane and kind.
struct EventTrack {
  TrackGroup group;
  std::size_t worker = 0;
  ooc::TraceEvent::Kind kind{};

  auto operator<=>(const EventTrack&) const = default;

  /// Within its group: "slot 5", "kernel".
  std::string name() const;
};

EventTrack track_of(const ooc::TraceEvent& event);

}  // namespace ooc_run
