#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <ooc/detail/parts/part_file.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "result/report.hpp"

namespace ooc_run {

/// The facts that ooc-run keeps in a part beside the answer: facts about the data, to be printed,
/// and about the run that computed the part.
struct PartFacts {
  std::string heading{};
  Json input{};                                                    // of the JSON document
  std::optional<std::pair<std::uint64_t, std::uint64_t>> shard{};  // index and number of shards
  std::string device{};                                            // several: "cpu, cuda:0"
  double seconds = 0;
  std::uint64_t bytes = 0;
};

std::string to_text(const PartFacts& facts);

/// Throws Error(bad_input) if the file has no facts, or facts that ooc-run would not write.
PartFacts facts_in(const ooc::PartFile& file);

/// Returns ranges of values as JSON.
Json describe_covers(std::span<const ooc::RecordRange> covers);

/// Returns the command for the shards of a second round. `part`: what the first one has found.
std::string describe_next_round(std::string_view command, std::string_view part);

/// Returns, for example, "the values 0 to 65,536", where `records` is "values".
std::string describe_range(const ooc::RecordRange& range, std::string_view records);

}  // namespace ooc_run
