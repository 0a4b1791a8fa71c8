#include "timeline/trace.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <ooc/error.hpp>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "cli/sizes.hpp"
#include "cli/written.hpp"
#include "timeline/event_track.hpp"
#include "timeline/perfetto_file.hpp"
#include "timeline/rate_bins.hpp"

namespace ooc_run {
namespace {

using ooc::TraceEvent;
using Kind = TraceEvent::Kind;
using Time = PerfettoFile::Time;
using Track = PerfettoFile::Track;

/// Converts the events of a run to the timeline of a Perfetto file.
class Timeline {
 public:
  Timeline(PerfettoFile& file, std::span<TraceEvent> events, TraceEvent::Clock::time_point start,
           bool complete)
      : file_(file), events_(events), start_(start), complete_(complete) {}

  void write(const std::string& name) {
    process_ = file_.add_process(name);
    write_read_rate(file_.add_counter("read rate", "GB/s", process_));
    write_waiting(file_.add_counter("chunks loaded, waiting", "", process_));
    write_slices();
    file_.flush();
  }

 private:
  Time time_of(TraceEvent::Clock::time_point when) const {
    return std::max(Time{}, std::chrono::duration_cast<Time>(when - start_));
  }

  /// Writes the read rate. The bytes of each read are spread evenly over its duration.
  void write_read_rate(Track track) {
    RateBins bins(std::chrono::milliseconds{10}, 100'000);
    for (const TraceEvent& event : events_) {
      if (event.kind != Kind::read) continue;
      bins.add(time_of(event.begin), time_of(event.end), event.bytes);
    }
    double before = -1;
    Time when{};
    const auto set = [&](double rate) {
      if (rate != before) file_.set_counter(track, when, rate);
      before = rate;
      when += bins.width();
    };
    for (const std::uint64_t bytes : bins.bytes()) {
      set(static_cast<double>(bytes) / static_cast<double>(bins.width().count()));  // GB/s
    }
    set(0);
  }

  /// Writes the number of loaded chunks that wait: from the end of the read to the beginning of the
  /// next event of the chunk.
  void write_waiting(Track track) {
    std::ranges::sort(events_, {}, [](const TraceEvent& event) {
      return std::tuple{event.chunk, event.begin, event.kind};
    });
    std::vector<std::pair<Time, int>> steps;
    for (auto read = events_.begin(); read != events_.end(); ++read) {
      if (read->kind != Kind::read) continue;
      const auto next = std::find_if(read + 1, events_.end(), [&](const TraceEvent& later) {
        return later.chunk != read->chunk || (later.kind != Kind::d2h && later.kind != Kind::write);
      });
      const bool has_left =
          next != events_.end() && next->chunk == read->chunk && next->kind != Kind::read;
      if (!has_left && !complete_) continue;  // its next event may have been left out
      steps.emplace_back(time_of(read->end), 1);
      if (has_left) steps.emplace_back(time_of(std::max(next->begin, read->end)), -1);
    }
    std::ranges::sort(steps);
    int waiting = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      waiting += steps[i].second;
      const bool last = i + 1 == steps.size() || steps[i + 1].first != steps[i].first;
      if (last) file_.set_counter(track, steps[i].first, waiting);
    }
  }

  void write_slices() {
    std::ranges::sort(events_, {}, [](const TraceEvent& event) {
      return std::tuple{track_of(event), event.begin};
    });
    std::optional<EventTrack> before;
    Track group, track;
    Time end{};  // of the last slice of the track
    for (const TraceEvent& event : events_) {
      const EventTrack event_track = track_of(event);
      if (!before || before->group != event_track.group) {
        group = file_.add_track(event_track.group.name(), process_);
      }
      if (before != event_track) {
        track = file_.add_track(event_track.name(), group);
        end = {};
      }
      before = event_track;
      // Slices must not overlap. Events may, by microseconds, if the offset between a GPU's clock
      // and the host's was measured again.
      const Time begin = std::max(time_of(event.begin), end);
      end = std::max(time_of(event.end), begin);
      add_slice(track, begin, end, event);
    }
  }

  void add_slice(Track track, Time begin, Time end, const TraceEvent& event) {
    const std::string_view kind = name_of(event.kind);
    PerfettoFile::Slice slice{.begin = begin,
                              .end = end,
                              .category = kind,
                              .name = std::string(kind),
                              .bytes = event.bytes};
    if (event.chunk != TraceEvent::no_chunk) {
      slice.name += fmt::format(" {}", event.chunk);
      slice.chunk = event.chunk;
    }
    file_.add_slice(track, slice);
  }

  PerfettoFile& file_;
  std::span<TraceEvent> events_;
  TraceEvent::Clock::time_point start_;
  bool complete_;
  Track process_;
};

}  // namespace

Trace::Trace(const TraceSettings& settings, std::size_t most)
    : file_(settings.path, 0, settings.replace),
      command_(settings.command),
      most_(std::max<std::size_t>(most / 2, 1) * 2) {
  kept_.reserve(most_);  // no reallocation during a run; untouched pages take no memory
}

void Trace::record(const ooc::TraceEvent& event) {
  const std::scoped_lock lock(mutex_);
  if (kept_.size() < most_) {
    kept_.push_back(event);
    return;
  }
  const std::size_t half = most_ / 2;
  kept_[half + left_out_ % half] = event;
  ++left_out_;
}

std::string Trace::commit() {
  PerfettoFile perfetto(file_);
  std::vector<TraceEvent> events = std::exchange(kept_, {});
  Timeline(perfetto, events, start_, left_out_ == 0).write("ooc-run " + command_);
  file_.commit();
  const std::string note = describe_written(file_, "a timeline that ui.perfetto.dev shows");
  if (left_out_ == 0) return note;
  return fmt::format("{}; of {} events, the {} in the middle are left out", note,
                     group_digits(std::to_string(most_ + left_out_)),
                     group_digits(std::to_string(left_out_)));
}

}  // namespace ooc_run
