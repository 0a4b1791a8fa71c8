#pragma once

#include <chrono>
#include <cstdint>
#include <ooc/detail/file/output_file.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ooc_run {

/// Writes a timeline in Perfetto's format, a protobuf message Trace, piece by piece. Tracks form a
/// tree and are shown in the order in which they are added. Throws Error(output).
class PerfettoFile {
 public:
  using Time = std::chrono::nanoseconds;  // since the beginning of the timeline

  struct Track {
    std::uint64_t id = 0;
  };

  struct Slice {
    Time begin{}, end{};
    std::string_view category;
    std::string name;
    std::optional<std::uint64_t> chunk{};  // shown with the slice, as are its bytes
    std::uint64_t bytes = 0;
  };

  /// Writes to `file` from its beginning. The caller commits the file.
  explicit PerfettoFile(ooc::detail::OutputFile& file) : file_(file) {}

  /// Adds the root of the tracks. Call it first.
  Track add_process(const std::string& name);
  Track add_track(const std::string& name, Track parent);
  Track add_counter(const std::string& name, const std::string& unit, Track parent);

  /// Slices of a track must be added in order and must not overlap.
  void add_slice(Track track, const Slice& slice);

  /// Sets the value of a counter from `when` on.
  void set_counter(Track track, Time when, double value);

  /// Writes the buffer to the file. Call it at the end.
  void flush();

 private:
  template <class Fill>
  void add_packet(Fill&& fill);

  ooc::detail::OutputFile& file_;
  std::uint64_t offset_ = 0;
  std::string buffer_;  // to be written at `offset_`
  std::uint64_t tracks_ = 0;
};

}  // namespace ooc_run
