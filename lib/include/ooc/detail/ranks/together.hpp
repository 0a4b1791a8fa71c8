#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/error.hpp>
#include <ooc/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

// Work that the ranks of a job do together. `ranks` may be null: then there is one process. All
// ranks make the same calls in the same order. They throw Error as Ranks::attend().

namespace ooc {

class Ranks;

namespace detail {

/// Tells other ranks of the exception that is being handled.
OOC_API void fail_with_current_error(Ranks& ranks) noexcept;

/// Returns the result of `job`. If that throws, makes all ranks fail.
template <class Job>
auto or_fail_together(Ranks* ranks, const Job& job) {
  try {
    return job();
  } catch (...) {
    if (ranks != nullptr) fail_with_current_error(*ranks);
    throw;
  }
}

/// Does `work` on a thread of its own, and calls `attend` until it is done: otherwise other ranks
/// would take this one for dead while it waits for a disk. Rethrows exceptions of both.
OOC_API void work_beside(const std::function<void()>& attend, const std::function<void()>& work);

/// Does some work on rank 0, on a thread of its own; the others wait until it is done.
OOC_API void do_as_first(Ranks* ranks, const std::function<void()>& work);

/// Sends `said` to all ranks, and returns the messages of all, by rank. While it waits for others,
/// it calls `meanwhile` repeatedly, and rethrows its exceptions.
OOC_API std::vector<std::vector<std::byte>> exchange(Ranks* ranks, std::vector<std::byte> said,
                                                     const std::function<void()>& meanwhile = {});

/// Returns the shares of all ranks, by their numbers. Sets the rank and the host of `share`
/// itself.
OOC_API std::vector<RankShare> exchange_shares(Ranks& ranks, RankShare share);

/// Returns the remarks of all ranks. Those of ranks other than 0 begin with the name of the rank.
OOC_API std::vector<std::string> exchange_remarks(Ranks& ranks,
                                                  std::span<const std::string> remarks);

/// Tells rank 0 what this rank has done so far, in any unit. Returns the sum of what rank 0 knows
/// of all ranks; on others, `done`. Does not wait.
OOC_API std::uint64_t share_progress(Ranks* ranks, std::uint64_t done);

/// Returns the error for a job that several ranks cannot share.
OOC_API Error needs_one_rank(std::string why);

/// Throws needs_one_rank() if there are several. `ranks` may be null.
OOC_API void require_one_rank(const Ranks* ranks);

}  // namespace detail
}  // namespace ooc
