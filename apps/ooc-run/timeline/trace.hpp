#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <ooc/io/output_file.hpp>
#include <ooc/trace_event.hpp>
#include <string>
#include <vector>

namespace ooc_run {

/// The file of a timeline, and the command that is its title.
struct TraceSettings {
  std::filesystem::path path;
  std::string command;
  bool replace = false;
};

/// Remembers what a run did when, and writes it to a file that Perfetto shows (ui.perfetto.dev).
class Trace {
 public:
  /// More than these do not fit a browser well. Of a longer run, the middle is left out.
  static constexpr std::size_t most_events = std::size_t{1} << 21;

  /// Before the run: begins the timeline. Throws Error(output) if there can be no such file.
  explicit Trace(const TraceSettings& settings, std::size_t most = most_events);

  /// Any thread.
  void record(const ooc::TraceEvent& event);

  /// Whether there is nothing to write, or it has been tried. After the run.
  bool empty() const noexcept { return kept_.empty(); }

  /// After the run, once: writes the file. Returns what is to be said about it. Throws
  /// Error(output).
  std::string commit();

 private:
  using Clock = ooc::TraceEvent::Clock;

  ooc::OutputFile file_;
  std::string command_;
  std::size_t most_;
  Clock::time_point start_ = Clock::now();

  // Held for some ten nanoseconds, a few times a chunk.
  std::mutex mutex_;
  std::vector<ooc::TraceEvent> kept_;  // the first half in order, the second one circular
  std::uint64_t left_out_ = 0;
};

}  // namespace ooc_run
