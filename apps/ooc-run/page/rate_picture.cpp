#include "page/rate_picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/sizes.hpp"
#include "draw/axis.hpp"
#include "draw/page_chart.hpp"
#include "draw/svg.hpp"

namespace ooc_run {
namespace {

constexpr std::size_t most_steps = 128;  // per line; more would be noise on a narrow page
constexpr double pixels = 220;
constexpr double headroom = 1.08;     // factor above the highest rate
constexpr double worth_the_room = 3;  // leave out a ceiling at least this many times the peak
constexpr double gb = 1e9;

/// A rate and the time for which it holds, in seconds.
struct Step {
  double begin, end, bytes_per_second;
};

struct TimeUnit {
  std::string_view name;
  double seconds;
};

/// Returns the unit for the time axis of a run of so many seconds.
TimeUnit unit_of(double seconds) {
  constexpr double minute = 60, hour = 3600;
  if (seconds < 1) return {"milliseconds", 1e-3};
  if (seconds < 10 * minute) return {"seconds", 1};
  if (seconds < 10 * hour) return {"minutes", minute};
  return {"hours", hour};
}

/// Converts bins to at most most_steps steps. If there are more bins, neighbours share a step.
std::vector<Step> steps_of(const RateBins& bins, double duration) {
  const std::vector<std::uint64_t>& bytes = bins.bytes();
  const std::size_t each = (bytes.size() + most_steps - 1) / most_steps;
  const double width = std::chrono::duration<double>(bins.width()).count();
  std::vector<Step> steps;
  for (std::size_t i = 0; i < bytes.size(); i += each) {
    const std::size_t next = std::min(i + each, bytes.size());
    double sum = 0;
    for (std::size_t k = i; k < next; ++k) sum += static_cast<double>(bytes[k]);
    const double begin = static_cast<double>(i) * width;
    const double end = std::min(static_cast<double>(next) * width, duration);
    steps.push_back({begin, end, end > begin ? sum / (end - begin) : 0});
  }
  return steps;
}

double highest(const std::vector<Step>& steps) {
  double most = 0;
  for (const Step& step : steps) most = std::max(most, step.bytes_per_second);
  return most;
}

struct Line {
  std::string_view css_class, name;
  std::optional<double> bytes_per_second;
};

std::string legend_entry(const Line& line, const std::string& text) {
  return fmt::format("<li><span class=\"swatch {}\"></span>{}: {}</li>\n", line.css_class,
                     line.name, text);
}

class RatePicture {
 public:
  RatePicture(double seconds, double most)
      : seconds_(seconds),
        most_(most),
        chart_(pixels, "bytes a second that were read and written, over the run") {}

  void add_axes() {
    constexpr int most_up = 5, most_along = 5;
    for (const Tick& tick : round_ticks(0, most_ / gb, most_up)) {
      chart_.tick_beside(tick.value * gb / most_, tick.label);
    }
    const TimeUnit unit = unit_of(seconds_);
    const auto ticks_of = [&](int intervals) {
      return round_ticks(0, seconds_ / unit.seconds, intervals);
    };
    for (const Tick& tick : ticks_that_fit(most_along, ticks_of)) {
      chart_.tick_below(tick.value * unit.seconds / seconds_, tick.label);
    }
    chart_.title_beside("GB/s");
    chart_.title_below(fmt::format("{} since the first read began", unit.name));
  }

  void add_steps(const std::vector<Step>& steps, std::string_view css_class) {
    std::string path = "M0 " + y(0);
    for (const Step& step : steps) {
      path += fmt::format("V{}H{:.2f}", y(step.bytes_per_second),
                          PageChart::x(std::min(1.0, step.end / seconds_)));
    }
    chart_.add(fmt::format("<path d=\"{}V{}Z\" class=\"rate {}\"/>\n", path, y(0), css_class));
  }

  void add_ceiling(const Line& line) {
    chart_.add(
        fmt::format("<line x1=\"0\" x2=\"{0:.0f}\" y1=\"{1}\" y2=\"{1}\" class=\"ceiling {2}\"/>\n",
                    PageChart::width, y(*line.bytes_per_second), line.css_class));
  }

  std::string html() const { return chart_.html(); }

 private:
  std::string y(double rate) const { return fmt::format("{:.2f}", PageChart::y(rate / most_)); }

  double seconds_, most_;
  PageChart chart_;
};

}  // namespace

std::string draw_rates(const RunRecord& record, const Ceilings& ceilings) {
  const double seconds = std::chrono::duration<double>(record.duration()).count();
  if (seconds <= 0) return "<p class=\"note\">Nothing was read.</p>\n";
  const std::vector<Step> read = steps_of(record.read(), seconds);
  const std::vector<Step> written = steps_of(record.written(), seconds);
  const double peak = std::max(highest(read), highest(written));
  const std::array lines{
      Line{"disk-ceiling", "disk, read directly", ceilings.disk},
      Line{"cache-ceiling", "page cache", ceilings.page_cache},
      Line{"h2d-ceiling", "copy to the GPU", ceilings.h2d},
      Line{"kernel-ceiling", "kernel, on data in place", ceilings.kernel},
      Line{"d2h-ceiling", "copy back", ceilings.d2h},
  };
  double most = peak;
  for (const Line& line : lines) {
    const double rate = line.bytes_per_second.value_or(0);
    if (rate < worth_the_room * peak) most = std::max(most, rate);
  }
  most *= headroom;
  RatePicture picture(seconds, most);
  picture.add_axes();
  picture.add_steps(read, "read");
  std::string legend = legend_entry({"read", "read", {}}, "highest " + format_rate(highest(read)));
  if (!written.empty()) {
    picture.add_steps(written, "write");
    legend += legend_entry({"write", "written", {}}, "highest " + format_rate(highest(written)));
  }
  bool measured = false;
  for (const Line& line : lines) {
    if (!line.bytes_per_second) continue;
    measured = true;
    const bool fits = *line.bytes_per_second <= most;
    if (fits) picture.add_ceiling(line);
    legend += legend_entry(line, "measured ceiling " + format_rate(*line.bytes_per_second) +
                                     (fits ? "" : ", beyond this scale"));
  }
  const std::string_view unmeasured =
      measured
          ? ""
          : "<p class=\"note\">The ceiling of this machine has not been measured: "
            "<code>ooc-run bench FILE</code> measures it, and later reports show it here.</p>\n";
  return fmt::format("{}<ul class=\"legend\">\n{}</ul>\n{}", picture.html(), legend, unmeasured);
}

}  // namespace ooc_run
