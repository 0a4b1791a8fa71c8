#include "request/shard.hpp"

#include <fmt/core.h>

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

constexpr std::string_view example = "--shard 0/4 is the first of four";

/// Returns the integer in an environment variable; empty if it is not set. Throws Error(usage) if
/// it is no integer.
std::optional<std::uint64_t> integer_in(const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr || *value == 0) return {};
  const std::string_view text(value);
  std::uint64_t integer = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
  if (error != std::errc{} || end != text.data() + text.size()) {
    refuse_usage(fmt::format("{}={} is no whole number", variable, text));
  }
  return integer;
}

/// Returns the shard of an index that a scheduler gives, of so many.
Shard numbered_shard(const char* variable, std::uint64_t index, std::uint64_t shards) {
  if (index < shards) return {.index = index, .count = shards};
  refuse_usage(fmt::format("--shards {}: {} is {}", shards, variable, index),
               "tasks are counted from 0");
}

/// Returns the number of tasks of a Slurm array that begins at 0 and has no gaps. If a few tasks of
/// it are started once more, these are another array, which does not show how many there were.
std::uint64_t tasks_of_slurm() {
  const auto least = integer_in("SLURM_ARRAY_TASK_MIN"), most = integer_in("SLURM_ARRAY_TASK_MAX");
  const auto count = integer_in("SLURM_ARRAY_TASK_COUNT");
  constexpr std::string_view hint =
      "--shards N says how many shards there are, as in "
      "--array=0-63 and --shards 64";
  if (!least || !most || !count) {
    refuse_usage("SLURM_ARRAY_TASK_ID is set, but not how many tasks there are", std::string(hint));
  }
  if (*least != 0 || *count < 2 || *most + 1 != *count) {
    refuse_usage(fmt::format("this Slurm array has {} from {} to {}: it may be a part of another",
                             format_count(*count, "task"), *least, *most),
                 std::string(hint));
  }
  return *count;
}

Shard automatic_shard(std::optional<std::uint64_t> shards) {
  if (const auto task = integer_in("SLURM_ARRAY_TASK_ID")) {
    // An array from 1 to N is refused in every task, not in its last one only.
    if (const auto most = integer_in("SLURM_ARRAY_TASK_MAX"); shards && most) {
      numbered_shard("SLURM_ARRAY_TASK_MAX", *most, *shards);
    }
    return numbered_shard("SLURM_ARRAY_TASK_ID", *task, shards ? *shards : tasks_of_slurm());
  }
  const auto index = integer_in("JOB_COMPLETION_INDEX");
  if (!index) {
    refuse_usage("neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set",
                 "outside of a Slurm array and an indexed job of Kubernetes, say --shard I/N");
  }
  if (!shards) {
    refuse_usage("JOB_COMPLETION_INDEX is set, but not how many shards there are",
                 "--shards N says it: the job's `completions`");
  }
  return numbered_shard("JOB_COMPLETION_INDEX", *index, *shards);
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
    return text == "auto" ? automatic_shard(shards) : parse_shard(text);
  });
  if (!shard) return {};
  if (shards && *shards != shard->count) {
    refuse_usage(
        fmt::format("--shards {} and --shard {}/{} differ", *shards, shard->index, shard->count),
        "--shards is for --shard auto");
  }
  Shard read = *shard;
  if (const auto path = arguments.get("output", parse_output)) {
    read.output = *path;
  } else {
    refuse_usage("no file for the part of this shard",
                 fmt::format("-o {}.part, and ooc-run merge joins the parts", read.index));
  }
  return read;
}

}  // namespace ooc_run
