#include "run/together.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <variant>

#include "cli/failure.hpp"
#include "run/deadline.hpp"

namespace ooc_run {
namespace {

constexpr double least_start_seconds = 15;
// If all ranks wait without progress, the lowest one reports it first. The launcher then ends the
// others before they report it, too.
constexpr double between_ranks_seconds = 2;
constexpr double most_between_ranks_seconds = 20;

/// Returns the rank of this process from the launcher's variables; 0 if there are none.
double rank_by_launcher() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* const value = std::getenv(name)) return std::strtod(value, nullptr);
  }
  return 0;
}

void refuse_option(bool is_set, const char* option, const char* why) {
  if (!is_set) return;
  throw ooc::Error(ooc::ErrorKind::usage, fmt::format("--{} is not for several ranks", option),
                   {.why = why});
}

/// Sets a rank to print only messages about itself, and to write only its part of the
/// output.
void be_silent(RunSettings& run) {
  run.output.progress = ProgressMode::none;
  run.side_files = {.plot = {}, .trace = {}, .report = {}, .replace = run.side_files.replace};
  run.verify = false;
}

void divide_run(RunSettings& run, ooc::Ranks& ranks) {
  if (run.rank_timeout) ranks.set_timeout(*run.rank_timeout);
  run.options.ranks = &ranks;
  if (ranks.size() == 1) return;
  refuse_option(run.checksum, "checksum", "it is of the bytes of one pass, in their order");
  if (!ranks.is_first()) be_silent(run);
}

template <class T>
constexpr bool is_shared =
    std::is_same_v<T, HistogramRequest> || std::is_same_v<T, ReduceRequest> ||
    std::is_same_v<T, QuantileRequest> || std::is_same_v<T, TopRequest> ||
    std::is_same_v<T, DistinctRequest> || std::is_same_v<T, Histogram2dRequest> ||
    std::is_same_v<T, ConvertRequest> || std::is_same_v<T, MatmulRequest>;

template <class T>
void divide_one(T& request, ooc::Ranks& ranks) {
  if constexpr (requires { request.shard; }) {
    refuse_option(request.shard && ranks.size() > 1, "shard",
                  "ranks divide the data among themselves");
  }
  if constexpr (is_shared<T>) {
    divide_run(request.run, ranks);
  } else if (ranks.size() > 1) {
    refuse_usage(
        "this command does not run on several ranks",
        "histogram, reduce, quantile, top, distinct, hist2d, convert and matmul do; ooc-run runs "
        "the others");
  }
}

template <class T>
void require_no_timeout(const T& request) {
  if constexpr (requires { request.run; }) {
    if (!request.run.rank_timeout) return;
    refuse_usage("--rank-timeout is for several ranks", "ooc-run-mpi has them");
  }
}

}  // namespace

void divide(Request& request, ooc::Ranks* ranks) {
  if (ranks != nullptr) {
    std::visit([&](auto& each) { divide_one(each, *ranks); }, request);
  } else {
    std::visit([&](const auto& each) { require_no_timeout(each); }, request);
  }
}

std::unique_ptr<ooc::Ranks> meet_in_time(const Meet& meet, double timeout) {
  // A large number of processes takes seconds to start.
  const double limit = std::max(timeout, least_start_seconds);
  const double turn =
      std::min(between_ranks_seconds * rank_by_launcher(), most_between_ranks_seconds);
  const Deadline deadline(limit + turn, [limit] {
    end_at_once({ooc::ErrorKind::stalled,
                 fmt::format("the ranks have not met within {:.0f} s", limit),
                 {.why = "a process or a machine has stopped while MPI started, or the network "
                         "between them lets nothing through",
                  .hint = "see what the launcher says of them; --rank-timeout waits for longer"}});
  });
  return meet();
}

void close_in_time(std::unique_ptr<ooc::Ranks> ranks, double timeout, int exit_code) {
  if (ranks == nullptr) return;
  const Deadline deadline(timeout, [exit_code] { _exit(exit_code); });
  ranks.reset();
}

void leave_after_success(ooc::Ranks& ranks) {
  if (ranks.leave()) ranks.attend();  // attend() throws
}

Farewell leave_after_failure(ooc::Ranks& ranks, const ooc::Error& error) {
  ranks.fail(error);
  const bool is_own = ranks.failed() == ranks.rank();
  if (error.kind() == ooc::ErrorKind::stalled) return {.prints = is_own, .is_complete = false};
  try {
    const auto first = ranks.leave();
    return {.prints = !first || *first == ranks.rank()};
  } catch (const ooc::Error&) {
    // The rank that has failed may be gone. Rank 0 prints the error that it has received from it.
    return {.prints = is_own || ranks.is_first(), .is_complete = false};
  }
}

std::string with_rank(const std::string& text, const ooc::Ranks* ranks) {
  if (ranks == nullptr || ranks->size() == 1) return text;
  return fmt::format("{}: {}", ranks->name(), text);
}

ooc::Error with_rank(const ooc::Error& error, const ooc::Ranks* ranks) {
  const bool is_named = ranks != nullptr && ranks->failed() != ranks->rank();
  if (error.kind() == ooc::ErrorKind::usage || error.kind() == ooc::ErrorKind::stalled || is_named)
    return error;
  return {error.kind(), with_rank(error.what(), ranks), error.details()};
}

}  // namespace ooc_run
