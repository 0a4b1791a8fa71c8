#include "run/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cli/sizes.hpp"
#include "timeline/event_track.hpp"

namespace ooc_run {
namespace {

using namespace std::chrono_literals;

constexpr auto bar_after = 500ms;
constexpr auto bar_every = 100ms;
constexpr auto line_every = 2s;
constexpr double rate_memory = 3;  // seconds; long, so that the time left does not jump

double share_done(const ProgressState& state) {
  if (state.total_bytes == 0) return 1;
  const double passes_done =
      static_cast<double>(state.pass - 1) +
      static_cast<double>(state.bytes) / static_cast<double>(state.total_bytes);
  return std::min(1.0, passes_done / static_cast<double>(std::max(state.pass, state.passes)));
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (; times > 0; --times) all += text;
  return all;
}

/// Returns, for example, "2.50 GB/s, 2.00 s left". Empty before the rate is known.
std::string pace(const ProgressState& state) {
  if (state.rate <= 0) return {};
  const std::size_t passes_left = state.passes - std::min(state.pass, state.passes);
  const double bytes_left =
      static_cast<double>(state.total_bytes - std::min(state.bytes, state.total_bytes)) +
      static_cast<double>(passes_left) * static_cast<double>(state.total_bytes);
  return fmt::format("{}, {} left", format_rate(state.rate),
                     format_seconds(bytes_left / state.rate));
}

/// Returns the load of each stage: ", read ▇ kernel ▂", or without Unicode ", read 93 % kernel 20
/// %".
std::string describe_stages(const std::vector<StageShare>& stages, bool unicode) {
  constexpr std::array<std::string_view, 8> levels{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (const auto& [kind, busy] : stages) {
    const auto level = std::min(static_cast<std::size_t>(busy * levels.size()), levels.size() - 1);
    text += fmt::format("{}{} {}", text.empty() ? ", " : " ", name_of(kind),
                        unicode ? std::string(levels[level]) : fmt::format("{:.0f} %", 100 * busy));
  }
  return text;
}

/// Returns a progress line without its percentage.
std::string details(const ProgressState& state) {
  std::string text = format_decimal_bytes(static_cast<double>(state.bytes));
  if (state.total_bytes == 0) return state.rate > 0 ? text + ", " + format_rate(state.rate) : text;
  text += " of " + format_decimal_bytes(static_cast<double>(state.total_bytes));
  if (state.passes > 1) text += fmt::format(", pass {} of {}", state.pass, state.passes);
  const std::string rest = pace(state);
  return rest.empty() ? text : text + ", " + rest;
}

}  // namespace

std::string describe_progress(const ProgressState& state) {
  if (state.total_bytes == 0) return details(state);  // how much there is shows at the end
  return fmt::format("{:.0f} %, {}", 100 * share_done(state), details(state));
}

std::string draw_progress(const ProgressState& state, const Terminal& terminal) {
  if (state.total_bytes == 0) return details(state);
  const std::string percent = fmt::format("{:3.0f} % ", 100 * share_done(state));
  // A line that is wider than the screen could not be erased. A terminal may append "^C" to it, so
  // leave room for that.
  constexpr std::string_view kept_free = "^C ";
  const std::size_t room = terminal.columns - percent.size() - kept_free.size();
  std::string text = details(state);
  if (text.size() > room) text = pace(state);
  if (text.size() > room) return percent;
  constexpr std::size_t shortest_bar = 5;
  constexpr std::size_t longest_bar = 30;
  const auto fits = [&](std::size_t more) { return columns_of(text) + shortest_bar + more < room; };
  if (!fits(0)) return percent + text;
  const std::string stages = describe_stages(state.stages, terminal.unicode);
  if (fits(columns_of(stages))) text += stages;
  const std::size_t width = std::min(longest_bar, room - columns_of(text) - 1);
  const auto done = static_cast<std::size_t>(share_done(state) * static_cast<double>(width));
  const std::string bar = repeated(terminal.unicode ? "━" : "=", done);
  const std::string rest = repeated(terminal.unicode ? "─" : "-", width - done);
  if (!terminal.colour) return percent + bar + rest + " " + text;
  return fmt::format("{}\x1b[36m{}\x1b[2m{}\x1b[0m {}", percent, bar, rest, text);
}

ProgressMeter::ProgressMeter(ProgressMode mode, std::size_t passes)
    : mode_(mode), rate_(rate_memory) {
  state_.passes = passes;
  const bool seen = describe_terminal(STDERR_FILENO).interactive;
  if (mode_ == ProgressMode::automatic && !seen) mode_ = ProgressMode::none;
}

ProgressMeter::~ProgressMeter() {
  erase();
}

void ProgressMeter::erase() {
  if (visible_) print_to_stderr(erase_line);
  visible_ = false;
}

void ProgressMeter::update(const ooc::Progress& progress, std::vector<StageShare> stages) {
  const Clock::time_point now = Clock::now();
  const bool is_next_pass = progress.bytes < state_.bytes;
  if (is_next_pass) ++state_.pass;
  // The bytes of an earlier run must not count towards the rate of this one.
  const bool pass_begins = is_next_pass || state_.total_bytes == 0;
  const std::uint64_t before = pass_begins ? progress.resumed_bytes : state_.bytes;
  rate_.add(static_cast<double>(progress.bytes - std::min(before, progress.bytes)),
            std::chrono::duration<double>(now - std::exchange(updated_, now)).count());
  state_.bytes = progress.bytes;
  state_.total_bytes = progress.total_bytes;
  state_.rate = rate_.per_second();
  state_.stages = std::move(stages);
  if (mode_ == ProgressMode::plain && now - shown_ >= line_every) {
    print_to_stderr(fmt::format("ooc-run: {}\n", describe_progress(state_)));
    shown_ = now;
  }
  if (mode_ == ProgressMode::automatic && now - shown_ >= (visible_ ? bar_every : bar_after)) {
    const Terminal terminal = describe_terminal(STDERR_FILENO);  // its size may have changed
    print_to_stderr(std::string(erase_line) + draw_progress(state_, terminal));
    shown_ = now;
    visible_ = true;
  }
}

}  // namespace ooc_run
