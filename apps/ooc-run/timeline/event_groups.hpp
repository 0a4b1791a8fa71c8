#pragma once

#include <cstddef>
#include <cstdint>
#include <ooc/trace_event.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ooc_run {

/// An event and its place in a picture, in units from the left. A pixel is one unit or more.
struct DrawnEvent {
  ooc::TraceEvent event;
  int begin = 0, end = 0;
};

/// Events of one track, one after the other, that share a tooltip.
struct EventGroup {
  struct Stroke {
    int begin, end;
  };

  ooc::TraceEvent::Kind kind{};
  std::vector<Stroke> strokes;  // in order, with gaps between them
  std::size_t count = 0;
  std::size_t first_chunk = 0, last_chunk = 0;  // the smallest and the largest index
  std::uint64_t bytes = 0;
  double seconds = 0;

  /// "read 99: 40.0 MB in 10.0 ms", "kernel 8 to 15, 8 times: 8.39 MB in 1.20 ms". `name`: of the
  /// kind.
  std::string description(std::string_view name) const;
};

/// Groups the events of one track. An event belongs to the group before it if it begins less
/// than `reach` after that group: with 0, each event is a group. Events without a gap
/// between them share a stroke.
std::vector<EventGroup> group_events(std::vector<DrawnEvent> track, int reach);

}  // namespace ooc_run
