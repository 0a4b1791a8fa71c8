#pragma once

#include <cstddef>
#include <cstdint>
#include <ooc/stats.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ooc_run {

/// An event and its position in a picture, in units from the left. A pixel is at least one unit.
struct DrawnEvent {
  ooc::TraceEvent event;
  int begin = 0, end = 0;
};

/// Successive events of one kind on one track that share a tooltip.
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

  /// Returns, for example, "read 99: 40.0 MB in 10.0 ms" or "kernel 8 to 15, 8 times: 8.39 MB in
  /// 1.20 ms". `name`: the label of the kind.
  std::string description(std::string_view name) const;
};

/// Groups the events of one track. An event joins the previous group if it has the same kind and
/// begins less than `reach` units after the beginning of that group. If `reach` is 0, each event is
/// a group. Events without a gap between them share a stroke.
std::vector<EventGroup> group_events(std::vector<DrawnEvent> track, int reach);

}  // namespace ooc_run
