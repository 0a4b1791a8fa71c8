#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/stats.hpp>
#include <string>
#include <vector>

namespace ooc_run {

/// The file of a timeline, and the command that is its title.
struct TraceSettings {
  std::filesystem::path path;
  std::string command;
  bool replace = false;
};

/// Records the events of a run and writes them to a file for Perfetto (ui.perfetto.dev).
class Trace {
 public:
  /// Maximum number of events; more are slow in a browser. The middle of a longer run is left out.
  static constexpr std::size_t most_events = std::size_t{1} << 21;

  /// Begins the timeline; to be called before the run. Throws Error(output) if the file cannot be
  /// created.
  explicit Trace(const TraceSettings& settings, std::size_t most = most_events);

  /// May be called by any thread.
  void record(const ooc::TraceEvent& event);

  /// True if there is nothing to write, or commit() was called. To be called after the run.
  bool empty() const noexcept { return kept_.empty(); }

  /// Writes the file; to be called once, after the run. Returns a message for the user. Throws
  /// Error(output).
  std::string commit();

 private:
  using Clock = ooc::TraceEvent::Clock;

  ooc::detail::OutputFile file_;
  std::string command_;
  std::size_t most_;
  Clock::time_point start_ = Clock::now();

  // Held for about ten nanoseconds, a few times per chunk.
  std::mutex mutex_;
  std::vector<ooc::TraceEvent> kept_;  // the first events, then a circular buffer
  std::uint64_t left_out_ = 0;
};

}  // namespace ooc_run
