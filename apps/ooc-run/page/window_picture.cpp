#include "page/window_picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "cli/sizes.hpp"
#include "draw/axis.hpp"
#include "draw/page_chart.hpp"
#include "timeline/event_groups.hpp"
#include "timeline/event_track.hpp"

namespace ooc_run {
namespace {

using ooc::TraceEvent;
using Time = RunRecord::Time;
using Window = RunRecord::Window;

constexpr double most_pixels = 480;  // height of a window, unless rows would be below least_row
constexpr double least_row = 5, most_row = 15;  // pixels
constexpr double line_pixels = 13;              // height of a line of text
constexpr double gap = 0.5;                     // between groups, in rows

double seconds_of(Time time) {
  return std::chrono::duration<double>(time).count();
}

/// The layout of the tracks from top to bottom, which is the same in all windows.
class Rows {
 public:
  Rows(const std::vector<Window>& windows, bool on_cpu) : on_cpu_(on_cpu) {
    std::set<EventTrack> tracks;
    for (const Window& window : windows) {
      for (const TraceEvent& event : window.events) tracks.insert(track_of(event));
    }
    double top = 0;
    for (const EventTrack& track : tracks) {
      const bool begins_group = rows_.empty() || rows_.back().track.group != track.group;
      if (begins_group && !rows_.empty()) top += gap;
      rows_.push_back({track, top, begins_group});
      top += 1;
    }
    rows_high_ = std::max(top, 1.0);
    row_pixels_ = std::clamp(most_pixels / rows_high_, least_row, most_row);
  }

  double pixels() const { return rows_high_ * row_pixels_; }

  /// Upper edge and height of a row, in units of the chart.
  double top_of(const EventTrack& track) const {
    const auto row = std::ranges::lower_bound(rows_, track, {}, &Row::track);
    return row->top / rows_high_ * PageChart::height;
  }
  double row_height() const { return PageChart::height / rows_high_; }

  std::string_view label_of(TraceEvent::Kind kind) const {
    return ooc_run::label_of(kind, on_cpu_);
  }

  /// Adds as many names as there is room for. Groups come first, with the name of their first row.
  void name_in(PageChart& chart) const {
    std::vector<double> named;  // pixels from the top
    const auto name = [&](const Row& row, bool with_group) {
      const double middle = (row.top + 0.5) * row_pixels_;
      const auto is_near = [&](double other) { return std::abs(other - middle) < line_pixels; };
      if (std::ranges::any_of(named, is_near)) return;
      named.push_back(middle);
      const double position = 1 - (row.top + 0.5) / rows_high_;
      if (with_group) chart.group_beside(position, row.track.group.name());
      const std::string track = row.track.name();
      const bool is_of_kind = track == name_of(row.track.kind);
      chart.name_beside(position, is_of_kind ? label_of(row.track.kind) : track);
    };
    for (const Row& row : rows_) {
      if (row.begins_group) name(row, true);
    }
    for (const Row& row : rows_) {
      if (!row.begins_group) name(row, false);
    }
  }

 private:
  struct Row {
    EventTrack track;
    double top;  // in rows
    bool begins_group;
  };

  bool on_cpu_;
  std::vector<Row> rows_;
  double rows_high_ = 0, row_pixels_ = 0;
};

std::string title_of(const Window& window, bool whole) {
  const std::string length = format_seconds(seconds_of(window.end - window.begin));
  if (whole) return fmt::format("The whole run: {}", length);
  switch (window.part) {
    case RunRecord::Part::first: return fmt::format("The first {}", length);
    case RunRecord::Part::middle:
      return fmt::format("{} in the middle, {} after the beginning", length,
                         format_seconds(seconds_of(window.begin)));
    default: return fmt::format("The last {}", length);
  }
}

using Tracks = std::map<EventTrack, std::vector<DrawnEvent>>;

/// Returns the smallest reach with which a window has at most `most_groups` tooltips, which are the
/// largest part of a page. With few events it is 0, and each event has a separate tooltip.
int reach_of_groups(const Tracks& tracks) {
  constexpr std::size_t most_groups = 192;
  int reach = 0;
  for (int next = 2; reach < PageChart::width; next *= 2) {
    std::size_t groups = 0;
    for (const auto& [track, events] : tracks) {
      groups += group_events(events, reach).size();
    }
    if (groups <= most_groups) break;
    reach = next;
  }
  return reach;
}

/// Draws events as lines whose width is the height of the row. Rectangles would take more bytes.
std::string draw_track(const std::vector<EventGroup>& groups, std::string_view label, double top,
                       double height) {
  std::string lines;
  for (const EventGroup& group : groups) {
    std::string path;
    int drawn_to = 0;
    for (const auto& [begin, end] : group.strokes) {
      path += fmt::format("{}{} 0h{}", path.empty() ? "M" : "m", begin - drawn_to, end - begin);
      drawn_to = end;
    }
    lines +=
        fmt::format("<path d=\"{}\"><title>{}</title></path>\n", path, group.description(label));
  }
  return fmt::format(
      "<g class=\"{}\" transform=\"translate(0 {:.1f})\" stroke-width=\"{:.1f}\">\n{}</g>\n",
      name_of(groups.front().kind), top + height / 2, height, lines);
}

std::string draw(const RunRecord& record, const Window& window, const Rows& rows,
                 const std::string& title) {
  PageChart chart(rows.pixels(), title, "rows");
  const double length = seconds_of(window.end - window.begin);
  constexpr double ms = 1e-3;
  const auto ticks_of = [&](int intervals) { return round_ticks(0, length / ms, intervals); };
  for (const Tick& tick : ticks_that_fit(5, ticks_of)) {
    chart.tick_below(tick.value * ms / length, tick.label);
  }
  chart.title_below("milliseconds");
  rows.name_in(chart);
  const auto x_of = [&](TraceEvent::Clock::time_point when) {
    const Time time = std::clamp(record.time_of(when), window.begin, window.end);
    return static_cast<int>(std::lround(PageChart::x(seconds_of(time - window.begin) / length)));
  };
  Tracks tracks;
  for (const TraceEvent& event : window.events) {
    const int begin = x_of(event.begin);
    const int end = std::max(begin + 1, x_of(event.end));  // at least one unit
    tracks[track_of(event)].push_back({event, begin, end});
  }
  const int reach = reach_of_groups(tracks);
  for (const auto& [track, events] : tracks) {
    chart.add(draw_track(group_events(events, reach), rows.label_of(track.kind), rows.top_of(track),
                         0.86 * rows.row_height()));
  }
  return fmt::format("<h3>{}</h3>\n{}", title, chart.html());
}

std::string legend_of(const std::vector<Window>& windows, const Rows& rows) {
  std::set<TraceEvent::Kind> kinds;
  for (const Window& window : windows) {
    for (const TraceEvent& event : window.events) kinds.insert(event.kind);
  }
  std::string entries;
  for (const TraceEvent::Kind kind : kinds) {
    entries += fmt::format("<li><span class=\"swatch {}\"></span>{}</li>\n", name_of(kind),
                           rows.label_of(kind));
  }
  return fmt::format("<ul class=\"legend\">\n{}</ul>\n", entries);
}

}  // namespace

std::string draw_windows(const RunRecord& record, bool on_cpu) {
  const std::vector<Window> windows = record.windows();
  if (windows.empty() || record.duration() <= Time{}) {
    return "<p class=\"note\">Nothing was read.</p>\n";
  }
  const Rows rows(windows, on_cpu);
  const bool whole = windows.size() == 1;
  std::string html = legend_of(windows, rows);
  for (const Window& window : windows) {
    if (window.begin < window.end) html += draw(record, window, rows, title_of(window, whole));
  }
  return html;
}

}  // namespace ooc_run
