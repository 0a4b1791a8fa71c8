#pragma once

#include <string>
#include <vector>

#include "parts/part_facts.hpp"
#include "parts/parts.hpp"
#include "result/json.hpp"

namespace ooc_run {

/// Returns the facts about all parts together.
PartFacts facts_of_all(const std::vector<ShardPart>& parts);

/// Returns the heading of the data, a line for each source, with printable characters.
std::vector<std::string> headings_of(const PartFacts& facts);

/// Returns the `run` object of the result: of merging, with a list of the runs that made the parts.
Json describe_merge(const std::vector<ShardPart>& parts, double seconds);

/// Returns, for example, "4 parts: 4.29 GB, computed in 632 ms together".
std::string describe_parts(const std::vector<ShardPart>& parts);

}  // namespace ooc_run
