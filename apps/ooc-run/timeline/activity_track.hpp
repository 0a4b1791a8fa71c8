#pragma once

#include <compare>
#include <cstddef>
#include <ooc/activity.hpp>
#include <string>
#include <string_view>

namespace ooc_run {

/// "read", "h2d", "kernel", "d2h" or "write".
std::string_view name_of(ooc::Activity::Kind kind);

/// The same, except that a CPU has no device to copy to: "copy in" and "copy out" there.
std::string_view label_of(ooc::Activity::Kind kind, bool on_cpu);

/// Tracks of a timeline lie in groups, in this order: the reads, each lane, the writes.
struct TrackGroup {
  int stage = 0;
  std::size_t lane = 0;

  auto operator<=>(const TrackGroup&) const = default;

  /// "read", "lane 3", "write".
  std::string name() const;
};

/// Where on a timeline an activity is drawn: with all others of its slot, or of its lane and kind.
struct ActivityTrack {
  TrackGroup group;
  std::size_t worker = 0;
  ooc::Activity::Kind kind{};

  auto operator<=>(const ActivityTrack&) const = default;

  /// Within its group: "slot 5", "kernel".
  std::string name() const;
};

ActivityTrack track_of(const ooc::Activity& activity);

}  // namespace ooc_run
