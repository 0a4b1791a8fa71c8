#include "request/shard.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <ooc/error.hpp>
#include <string_view>
#include <system_error>

#include "cli/failure.hpp"
#include "cli/sizes.hpp"
#include "request/output_file.hpp"

namespace ooc_run {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view example = "--shard 0/4 is the first of four";

/// The environment variables in which a scheduler numbers the tasks of an array. Empty names: the
/// scheduler has no such variable.
struct Scheduler {
  std::string_view name;
  const char* index;       // index of this task
  const char* first = "";  // lowest index in the array
  const char* last = "";
  const char* step = "";                // step between indices
  const char* tasks = "";               // number of tasks in this array, maybe a part of another
  const char* shards = "";              // number of tasks in all
  std::optional<std::uint64_t> base{};  // first index; empty if users choose it
};

constexpr std::array schedulers{
    Scheduler{.name = "Slurm",
              .index = "SLURM_ARRAY_TASK_ID",
              .first = "SLURM_ARRAY_TASK_MIN",
              .last = "SLURM_ARRAY_TASK_MAX",
              .tasks = "SLURM_ARRAY_TASK_COUNT"},
    Scheduler{.name = "PBS", .index = "PBS_ARRAY_INDEX"},
    Scheduler{.name = "Torque", .index = "PBS_ARRAYID"},
    Scheduler{.name = "LSF",
              .index = "LSB_JOBINDEX",
              .last = "LSB_JOBINDEX_END",
              .step = "LSB_JOBINDEX_STEP",
              .base = 1},
    Scheduler{.name = "Grid Engine",
              .index = "SGE_TASK_ID",
              .first = "SGE_TASK_FIRST",
              .last = "SGE_TASK_LAST",
              .step = "SGE_TASK_STEPSIZE",
              .base = 1},
    Scheduler{.name = "AWS Batch",
              .index = "AWS_BATCH_JOB_ARRAY_INDEX",
              .shards = "AWS_BATCH_JOB_ARRAY_SIZE",
              .base = 0},
    Scheduler{.name = "Google Batch",
              .index = "BATCH_TASK_INDEX",
              .shards = "BATCH_TASK_COUNT",
              .base = 0},
    Scheduler{.name = "Kubernetes", .index = "JOB_COMPLETION_INDEX", .base = 0},
};

/// Returns the integer in an environment variable; empty if it is not set. Throws Error(usage) if
/// the value is not an integer.
std::optional<std::uint64_t> integer_in(const char* variable) {
  const char* const value = *variable == 0 ? nullptr : std::getenv(variable);
  if (value == nullptr || *value == 0) return {};
  const std::string_view text(value);
  std::uint64_t integer = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
  if (error != std::errc{} || end != text.data() + text.size()) {
    refuse_usage(fmt::format("{}={} is no whole number", variable, text));
  }
  return integer;
}

/// True if this process is a task of an array. Outside of arrays, Grid Engine sets "undefined" and
/// LSF 0.
bool has_task(const Scheduler& scheduler) {
  const char* const value = std::getenv(scheduler.index);
  if (value == nullptr || *value == 0) return false;
  return !(scheduler.base == 1 && (value == "0"sv || value == "undefined"sv));
}

const Scheduler& scheduler_of_this_task() {
  const auto found = std::ranges::find_if(schedulers, has_task);
  if (found == schedulers.end()) {
    refuse_usage(
        "no scheduler has numbered this task",
        "auto is for the tasks of a scheduler's array; --shard I/N says it anywhere: part I "
        "of N, from 0 on");
  }
  const auto other = std::find_if(found + 1, schedulers.end(), has_task);
  if (other != schedulers.end()) {
    refuse_usage(fmt::format("both {} and {} are set", found->index, other->index),
                 "say which shard this is: --shard I/N");
  }
  return *found;
}

/// Returns the index of the first task, if the user does not give it. An array of Slurm counts from
/// 0, unless its highest index shows that it counts from 1 to the given number of shards.
std::uint64_t base_of(const Scheduler& scheduler, std::optional<std::uint64_t> shards) {
  if (scheduler.base) return *scheduler.base;
  const auto least = integer_in(scheduler.first), most = integer_in(scheduler.last);
  if (*scheduler.first != 0) return least.value_or(0) > 0 && most && most == shards ? 1 : 0;
  refuse_usage(fmt::format("{} does not say from where its tasks are counted", scheduler.name),
               "--shard auto:0 or auto:1 says it");
}

/// Returns the number of shards, if the user does not give it, of an array that begins at `base`
/// and has no gaps. Tasks that are submitted again form another array, which does not tell how many
/// tasks the first one had.
std::uint64_t shards_of(const Scheduler& scheduler, std::uint64_t base) {
  if (const auto shards = integer_in(scheduler.shards)) return *shards;
  const auto most = integer_in(scheduler.last);
  if (!most || (*scheduler.tasks != 0 && !integer_in(scheduler.tasks))) {
    refuse_usage(fmt::format("{} is set, but not how many shards there are", scheduler.index),
                 "--shards N says it: the number of all tasks of this job");
  }
  const std::uint64_t least = integer_in(scheduler.first).value_or(base);
  const std::uint64_t range = *most < least ? 0 : *most - least + 1;
  const std::uint64_t tasks =
      integer_in(scheduler.tasks).value_or(range / integer_in(scheduler.step).value_or(1));
  if (least != base || tasks < 2 || tasks != range) {
    refuse_usage(fmt::format("this array has {} from {} to {}: it may be a part of another",
                             format_count(tasks, "task"), least, *most),
                 "--shards N says how many shards there are: the number of all tasks of this job; "
                 "--shard auto:1 counts from 1");
  }
  return tasks;
}

/// Returns the number of the shard with this index, among `shards` indices from `base` on.
std::uint64_t shard_of(const char* variable, std::uint64_t index, std::uint64_t base,
                       std::uint64_t shards) {
  if (index >= base && index - base < shards) return index - base;
  refuse_usage(fmt::format("--shards {}: {} is {}", shards, variable, index),
               fmt::format("tasks are counted from {}; --shard auto:{} counts from {}", base,
                           1 - base, 1 - base));
}

/// `from`: the first index, if the user gives it.
Shard automatic_shard(std::optional<std::uint64_t> from, std::optional<std::uint64_t> shards) {
  const Scheduler& scheduler = scheduler_of_this_task();
  const std::uint64_t base = from ? *from : base_of(scheduler, shards);
  const std::uint64_t count = shards ? *shards : shards_of(scheduler, base);
  // If the array has too many tasks, refuse it in every task instead of only in the last ones.
  if (const auto most = integer_in(scheduler.last)) shard_of(scheduler.last, *most, base, count);
  const auto index = integer_in(scheduler.index);
  return {.index = shard_of(scheduler.index, index.value_or(0), base, count), .count = count};
}

std::optional<Shard> parse_automatic(std::string_view text, std::optional<std::uint64_t> shards) {
  if (text == "auto") return automatic_shard({}, shards);
  if (text == "auto:0" || text == "auto:1") return automatic_shard(text.back() - '0', shards);
  return {};
}

Shard parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    refuse_usage("a shard is the I-th of N, counted from 0", std::string(example));
  }
  const Shard shard{.index = parse_count(text.substr(0, slash)),
                    .count = parse_count(text.substr(slash + 1))};
  if (shard.index >= shard.count) {
    refuse_usage(fmt::format("there is no shard {} of {}", shard.index, shard.count),
                 fmt::format("they are counted from 0; {}", example));
  }
  return shard;
}

}  // namespace

std::optional<Shard> read_shard(const Arguments& arguments) {
  const auto shards = arguments.get("shards", positive_count);
  const auto shard = arguments.get("shard", [&](const std::string& text) {
    const auto automatic = parse_automatic(text, shards);
    return automatic ? *automatic : parse_shard(text);
  });
  if (!shard) return {};
  if (shards && *shards != shard->count) {
    refuse_usage(
        fmt::format("--shards {} and --shard {}/{} differ", *shards, shard->index, shard->count),
        "--shards is for --shard auto");
  }
  Shard read = *shard;
  read.after = arguments.get("after", [](const std::string& text) { return text; }).value_or("");
  if (const auto path = arguments.get("output", parse_output)) {
    read.output = *path;
  } else {
    refuse_usage("no file for the part of this shard",
                 fmt::format("-o {}.part, and ooc-run merge joins the parts", read.index));
  }
  return read;
}

}  // namespace ooc_run
