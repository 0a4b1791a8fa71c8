#include "run/stall_watch.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <ooc/error.hpp>

#include "cli/sizes.hpp"

namespace ooc_run {

std::string StallWatch::look(const ooc::Progress& progress) {
  constexpr double long_wait = 30;
  const auto what = [&] {
    const double done = static_cast<double>(progress.bytes) /
                        static_cast<double>(std::max<std::uint64_t>(progress.total_bytes, 1));
    return fmt::format("the disk has answered nothing for {}, after {:.0f} % of the work",
                       format_seconds(progress.stalled_seconds), 100 * done);
  };
  const std::string why = format_count(progress.in_flight, "request") + " to it in flight";
  if (timeout_ && progress.stalled_seconds >= *timeout_) {
    throw ooc::Error(ooc::ErrorKind::stalled, what(),
                     {.why = why,
                      .hint = "see `dmesg`, the network if it lies behind one, or wait for longer "
                              "(--io-timeout); nothing was written"});
  }
  if (progress.stalled_seconds < long_wait || warned_) return {};
  warned_ = true;
  return fmt::format("{}: {}; still waiting{}", what(), why,
                     timeout_ ? "" : " (--io-timeout SECONDS ends that)");
}

}  // namespace ooc_run
