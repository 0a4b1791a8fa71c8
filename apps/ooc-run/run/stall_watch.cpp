#include "run/stall_watch.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <ooc/error.hpp>

#include "cli/sizes.hpp"

namespace ooc_run {

std::string StallWatch::look(const ooc::Progress& progress, bool is_to_stop) {
  constexpr double long_wait = 30, longest_wait_to_stop = 20;
  const auto what = [&] {
    const double done = static_cast<double>(progress.bytes) /
                        static_cast<double>(std::max<std::uint64_t>(progress.total_bytes, 1));
    return fmt::format("the {} has answered nothing for {}, after {:.0f} % of the work",
                       is_remote_ ? "server" : "disk", format_seconds(progress.stalled_seconds),
                       100 * done);
  };
  const std::string why = format_count(progress.in_flight, "request") + " to it in flight";
  if (timeout_ && progress.stalled_seconds >= *timeout_) {
    throw ooc::Error(ooc::ErrorKind::stalled, what(),
                     {.why = why,
                      .hint = std::string(is_remote_ ? "see the server and the network, "
                                                     : "see `dmesg`, the network if it lies behind "
                                                       "one, ") +
                              "or wait for longer (--io-timeout); nothing was written"});
  }
  if (is_to_stop && !to_stop_since_) to_stop_since_ = progress.seconds;
  const double waited =
      is_to_stop ? std::min(progress.stalled_seconds, progress.seconds - *to_stop_since_) : 0;
  if (waited >= longest_wait_to_stop) {
    throw ooc::Error(ooc::ErrorKind::interrupted, "interrupted; " + what(), {.why = why});
  }
  if (progress.stalled_seconds < long_wait || warned_) return {};
  warned_ = true;
  return fmt::format("{}: {}; still waiting{}", what(), why,
                     timeout_ ? "" : " (--io-timeout SECONDS ends that)");
}

}  // namespace ooc_run
