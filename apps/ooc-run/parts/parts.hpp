#pragma once

#include <cstdint>
#include <memory>
#include <ooc/collect.hpp>
#include <ooc/error.hpp>
#include <string>
#include <vector>

#include "parts/part_facts.hpp"
#include "parts/question.hpp"

namespace ooc_run {

/// A part file, with the facts that ooc-run keeps in it. Since answers may be large, those of only
/// one file are in memory at a time.
struct ShardPart {
  std::string path;
  ooc::PartFile file;  // without answers; what all parts have in common is in the first one only
  PartFacts facts{};

  std::uint64_t first() const { return file.covers.empty() ? 0 : file.covers.front().first; }
  std::uint64_t shard_count() const { return facts.shard ? facts.shard->second : 0; }
};

/// The parts, in the order of the data, and their common question.
struct Parts {
  std::vector<ShardPart> all{};
  std::unique_ptr<Question> question{};  // in the round of the parts
};

/// Reads part files, which must belong together. `ignore_times`: the data may be copies. Throws
/// ooc::Error.
Parts read_parts(const std::vector<std::string>& paths, bool ignore_times);

/// Merges all parts in their question. Throws ooc::Error.
void merge(const Parts& parts);

/// Throws an error again, with the path of the part that it concerns.
[[noreturn]] void refuse_part(const std::string& path, const ooc::Error& error);

}  // namespace ooc_run
