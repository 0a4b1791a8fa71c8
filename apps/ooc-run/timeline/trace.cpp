#include "timeline/trace.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <ooc/io/error.hpp>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "cli/output_file_options.hpp"
#include "cli/sizes.hpp"
#include "timeline/activity_track.hpp"
#include "timeline/perfetto_file.hpp"
#include "timeline/rate_bins.hpp"

namespace ooc_run {
namespace {

using ooc::Activity;
using Kind = Activity::Kind;
using Time = PerfettoFile::Time;
using Track = PerfettoFile::Track;

/// What a run did, on the timeline of a trace.
class Timeline {
 public:
  Timeline(PerfettoFile& file, std::span<Activity> activities, Activity::Clock::time_point start,
           bool complete)
      : file_(file), activities_(activities), start_(start), complete_(complete) {}

  void write(const std::string& name) {
    process_ = file_.add_process(name);
    write_read_rate(file_.add_counter("read rate", "GB/s", process_));
    write_waiting(file_.add_counter("chunks loaded, waiting", "", process_));
    write_slices();
    file_.flush();
  }

 private:
  Time time_of(Activity::Clock::time_point when) const {
    return std::max(Time{}, std::chrono::duration_cast<Time>(when - start_));
  }

  /// Bytes of a read spread over the time that it took.
  void write_read_rate(Track track) {
    RateBins bins(std::chrono::milliseconds{10}, 100'000);
    for (const Activity& activity : activities_) {
      if (activity.kind != Kind::read) continue;
      bins.add(time_of(activity.begin), time_of(activity.end), activity.bytes);
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

  /// A chunk waits from the end of its read to the beginning of what comes next.
  void write_waiting(Track track) {
    std::ranges::sort(activities_, {}, [](const Activity& activity) {
      return std::tuple{activity.chunk, activity.begin, activity.kind};
    });
    std::vector<std::pair<Time, int>> steps;
    for (auto read = activities_.begin(); read != activities_.end(); ++read) {
      if (read->kind != Kind::read) continue;
      const auto next = std::find_if(read + 1, activities_.end(), [&](const Activity& later) {
        return later.chunk != read->chunk || (later.kind != Kind::d2h && later.kind != Kind::write);
      });
      const bool has_left =
          next != activities_.end() && next->chunk == read->chunk && next->kind != Kind::read;
      if (!has_left && !complete_) continue;  // it may have left in the gap
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
    std::ranges::sort(activities_, {}, [](const Activity& activity) {
      return std::tuple{track_of(activity), activity.begin};
    });
    std::optional<ActivityTrack> before;
    Track group, track;
    Time end{};  // of the track so far
    for (const Activity& activity : activities_) {
      const ActivityTrack place = track_of(activity);
      if (!before || before->group != place.group) {
        group = file_.add_track(place.group.name(), process_);
      }
      if (before != place) {
        track = file_.add_track(place.name(), group);
        end = {};
      }
      before = place;
      // Where a GPU's clock is compared with the host's anew, they may differ by microseconds.
      const Time begin = std::max(time_of(activity.begin), end);
      end = std::max(time_of(activity.end), begin);
      add_slice(track, begin, end, activity);
    }
  }

  void add_slice(Track track, Time begin, Time end, const Activity& activity) {
    const std::string_view kind = name_of(activity.kind);
    PerfettoFile::Slice slice{.begin = begin,
                              .end = end,
                              .category = kind,
                              .name = std::string(kind),
                              .bytes = activity.bytes};
    if (activity.chunk != Activity::no_chunk) {
      slice.name += fmt::format(" {}", activity.chunk);
      slice.chunk = activity.chunk;
    }
    file_.add_slice(track, slice);
  }

  PerfettoFile& file_;
  std::span<Activity> activities_;
  Activity::Clock::time_point start_;
  bool complete_;
  Track process_;
};

std::filesystem::path parse_timeline(const std::string& text) {
  const std::filesystem::path path = parse_output(text);
  if (ooc::ending_of(path) != ".json") return path;
  const std::string other = std::filesystem::path(path).replace_extension(".pftrace").string();
  throw ooc::Error(ooc::Cause::usage, "a timeline is protobuf, not JSON",
                   {.hint = "--trace " + ooc::shell_word(other) + ", which ui.perfetto.dev shows"});
}

}  // namespace

std::optional<TraceSettings> read_trace_settings(const Arguments& arguments) {
  const auto path = arguments.get("trace", parse_timeline);
  if (!path) return {};
  refuse_file_in_use(arguments, "trace", *path);
  return TraceSettings{*path, std::string(arguments.command()), arguments.has("force")};
}

Trace::Trace(const TraceSettings& settings, std::size_t most)
    : file_(settings.path, 0, settings.replace),
      command_(settings.command),
      most_(std::max<std::size_t>(most / 2, 1) * 2) {
  kept_.reserve(most_);  // so that a run never waits for it to grow; what is not used costs nothing
}

void Trace::record(const ooc::Activity& activity) {
  const std::scoped_lock lock(mutex_);
  if (kept_.size() < most_) {
    kept_.push_back(activity);
    return;
  }
  const std::size_t half = most_ / 2;
  kept_[half + left_out_ % half] = activity;
  ++left_out_;
}

std::string Trace::publish() {
  PerfettoFile perfetto(file_);
  std::vector<Activity> activities = std::exchange(kept_, {});
  Timeline(perfetto, activities, start_, left_out_ == 0).write("ooc-run " + command_);
  file_.publish();
  const std::string note =
      fmt::format("wrote {}, a timeline that ui.perfetto.dev shows", file_.path().string());
  if (left_out_ == 0) return note;
  return fmt::format("{}; of {} activities, the {} in the middle are left out", note,
                     group_digits(std::to_string(most_ + left_out_)),
                     group_digits(std::to_string(left_out_)));
}

}  // namespace ooc_run
