#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ooc/collect.hpp>
#include <ooc/error.hpp>
#include <ooc/histogram.hpp>
#include <ooc/quantile.hpp>
#include <optional>
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
  Question question{};                      // with the bins, if the round before has chosen them
  std::optional<ooc::ChosenBins> chosen{};  // by that round
  ooc::HistogramOptions asked{};            // the bins as they were asked for
  std::optional<ooc::QuantileSearch> search{};  // for quantiles, after the rounds before

  /// True if the parts are of a round that chooses bins.
  bool choose_bins() const { return question.histogram && rounds_of(question) > 1; }

  /// Returns the number of their round, and that of all rounds.
  std::array<std::size_t, 2> round() const {
    if (search) return {all.front().file.earlier.size() + 1, rounds_of(question)};
    if (choose_bins()) return {1, 2};
    return chosen ? std::array<std::size_t, 2>{2, 2} : std::array<std::size_t, 2>{1, 1};
  }
};

/// Reads part files, which must belong together. `ignore_times`: the data may be copies. Throws
/// ooc::Error.
Parts read_parts(const std::vector<std::string>& paths, bool ignore_times);

/// Reads a part file again, with its answers. `first`: the first of all parts. Throws ooc::Error.
ooc::PartFile read_again(const ShardPart& part, const ShardPart& first);

/// Throws an error again, with the path of the part that it concerns.
[[noreturn]] void refuse_part(const std::string& path, const ooc::Error& error);

}  // namespace ooc_run
