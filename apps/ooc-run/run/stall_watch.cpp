#include "run/stall_watch.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <ooc/error.hpp>
#include <string_view>

#include "cli/sizes.hpp"

namespace ooc_run {
namespace {

struct PeerWords {
  std::string_view name;
  std::string_view nothing;  // describes the missing activity
  std::string_view hint;
};

PeerWords words_of(ooc::detail::IoPeer peer) {
  switch (peer) {
    case ooc::detail::IoPeer::server:
      return {"server", "answered nothing", "see the server and the network"};
    case ooc::detail::IoPeer::writer:
      return {"writer of the pipe", "sent nothing", "see the program that writes the data"};
    case ooc::detail::IoPeer::disk: break;
  }
  return {"disk", "answered nothing", "see `dmesg`, the network if it lies behind one"};
}

/// Returns, for example, "the disk has answered nothing for 3.00 s, after 40 % of the work".
std::string describe(const ooc::detail::IoMeter::Stall& stall, const ooc::Progress* progress) {
  const PeerWords words = words_of(stall.peer);
  std::string text = fmt::format("the {} has {} for {}", words.name,
                                 stall.bytes == 0 ? words.nothing : "sent less than 1 KiB",
                                 format_seconds(stall.seconds));
  if (progress == nullptr || progress->total_bytes == 0) return text;
  const double done =
      static_cast<double>(progress->bytes) / static_cast<double>(progress->total_bytes);
  return text + fmt::format(", after {:.0f} % of the work", 100 * done);
}

}  // namespace

std::string StallWatch::look(const ooc::detail::IoMeter::Stall& stall,
                             const ooc::Progress* progress, bool is_to_stop) {
  constexpr double long_wait = 30, longest_wait_to_stop = 20;
  const std::string why = stall.in_flight == 0
                              ? std::string()
                              : format_count(stall.in_flight, "request") + " to it in flight";
  if (timeout_ && stall.seconds >= *timeout_) {
    throw ooc::Error(
        ooc::ErrorKind::stalled, describe(stall, progress),
        {.why = why,
         .hint = fmt::format("{}, or wait for longer (--io-timeout); nothing was written",
                             words_of(stall.peer).hint)});
  }
  if (progress != nullptr) {
    if (is_to_stop && !to_stop_since_) to_stop_since_ = progress->seconds;
    const double waited =
        is_to_stop ? std::min(stall.seconds, progress->seconds - *to_stop_since_) : 0;
    if (waited >= longest_wait_to_stop) {
      throw ooc::Error(ooc::ErrorKind::interrupted, "interrupted; " + describe(stall, progress),
                       {.why = why});
    }
  }
  if (stall.seconds < long_wait || warned_) return {};
  warned_ = true;
  return fmt::format("{}{}{}; still waiting{}", describe(stall, progress), why.empty() ? "" : ": ",
                     why, timeout_ ? "" : " (--io-timeout SECONDS ends that)");
}

}  // namespace ooc_run
