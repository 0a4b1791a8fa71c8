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
};

/// Parses --shard, --shards and -o. Empty without --shard. `auto` takes the numbers from what a
/// scheduler tells the tasks of an array; `auto:0` and `auto:1` say from where it counts. Throws
/// Error(usage), also if only one of both numbers is known: no task may compute the whole by
/// mistake.
std::optional<Shard> read_shard(const Arguments& arguments);

}  // namespace ooc_run
