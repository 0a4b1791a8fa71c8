#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cli/arguments.hpp"

namespace ooc_run {

/// One of several sections of equal size that a dataset is divided into.
struct Shard {
  std::uint64_t index = 0, count = 1;
  std::filesystem::path output{};  // the file of its part
  std::filesystem::path after{};   // what an earlier round has found; empty: there was none
};

/// Parses --shard, --shards, --after and -o. Empty without --shard. `auto` takes the numbers from
/// the variables that a scheduler sets for the tasks of an array; `auto:0` and `auto:1` give the
/// first index. Throws Error(usage), also if the number of shards or that of this one is unknown:
/// no task may compute the whole by mistake.
std::optional<Shard> read_shard(const Arguments& arguments);

}  // namespace ooc_run
