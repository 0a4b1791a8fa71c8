#include "ranks/rank_share.hpp"

#include <algorithm>
#include <cstdint>

namespace ooc::detail {

void save_share(std::vector<std::byte>& out, const RankShare& share) {
  append_bytes(out, std::uint64_t{share.rank});
  append_text(out, share.host);
  append_text(out, share.device);
  append_bytes(out, share.bytes);
  append_bytes(out, share.bytes_written);
  for (const double seconds :
       {share.busy_seconds, share.wait_seconds, share.start_seconds, share.idle_seconds}) {
    append_bytes(out, seconds);
  }
}

RankShare take_share(ByteReader& in) {
  RankShare share{.rank = static_cast<std::size_t>(in.take<std::uint64_t>())};
  share.host = take_text(in);
  share.device = take_text(in);
  share.bytes = in.take<std::uint64_t>();
  share.bytes_written = in.take<std::uint64_t>();
  for (double* const seconds :
       {&share.busy_seconds, &share.wait_seconds, &share.start_seconds, &share.idle_seconds}) {
    *seconds = in.take<double>();
  }
  return share;
}

void complete(std::vector<RankShare>& shares) {
  const auto last = [](const RankShare& share) { return share.start_seconds + share.busy_seconds; };
  const double end = last(std::ranges::max(shares, {}, last));
  for (RankShare& share : shares) share.idle_seconds = end - last(share);
  std::ranges::sort(shares, {}, &RankShare::rank);
}

}  // namespace ooc::detail
