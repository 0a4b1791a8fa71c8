#include "base/least_limit.hpp"

#include <ooc/detail/base/units.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace ooc::detail {

Error with_least_limit(const Error& error, Options limits,
                       const std::function<bool(const Options&)>& fits) {
  constexpr std::size_t most = std::size_t{1} << 44;
  ErrorDetails details = error.details();
  if (error.kind() != ErrorKind::memory || details.remedies.empty()) return error;
  Remedy& remedy = details.remedies.front();
  std::size_t& limit =
      remedy.setting == "Options::memory_bytes" ? limits.memory_bytes : limits.device_bytes;
  if (limit == 0) return error;  // the memory of the machine is too small, not a limit
  std::size_t enough = round_up(limit, KiB), too_few = 0;
  for (limit = enough; !fits(limits); limit = enough) {
    if (enough > most) return error;
    too_few = std::exchange(enough, 2 * enough);
  }
  while (enough - too_few > KiB) {
    limit = round_up(too_few + (enough - too_few) / 2, KiB);
    (fits(limits) ? enough : too_few) = limit;
  }
  remedy.value = std::to_string(enough);
  return {error.kind(), error.what(), details};
}

}  // namespace ooc::detail
