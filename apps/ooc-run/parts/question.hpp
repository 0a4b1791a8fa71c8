#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <ooc/distinct.hpp>
#include <ooc/dtype.hpp>
#include <ooc/histogram.hpp>
#include <ooc/quantile.hpp>
#include <ooc/top.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "result/report.hpp"

namespace ooc_run {

/// All settings that determine the result of a command that folds a dataset, except its files.
/// Parts with the same question can be merged.
struct Question {
  std::string command;  // "reduce"
  ooc::DType type{};
  std::uint64_t offset = 0;
  std::uint64_t skip = 0;                            // elements to leave out first
  std::optional<std::uint64_t> count{};              // elements to use; empty: all
  std::string array{};                               // its name, if the file has several
  std::vector<std::uint64_t> places{};               // of the data, if they are selected
  std::optional<ooc::ReduceOptions> reduce{};        // statistics are wanted
  std::optional<std::uint64_t> columns{};            // of rows, each of which has statistics
  std::optional<ooc::HistogramOptions> histogram{};  // bins are wanted
  std::optional<ooc::QuantileOptions> quantile{};    // quantiles are wanted
  std::optional<ooc::TopOptions> top{};              // the best values are wanted
  std::optional<ooc::DistinctOptions> distinct{};    // distinct values are wanted
};

Json to_json(const Question& question);

/// Returns the word for the records of parts: "values", or "rows" if each column has a result.
std::string_view records_of(const Question& question);

/// Returns the records of a tile. Shards of the question divide the data between tiles.
std::uint64_t tile_records_of(const Question& question);

/// Returns the number of rounds of shards that the question takes, for data that have elements: 2
/// if bins depend on the range of all data, which the shards of the first round find; for quantiles
/// the number of passes.
std::size_t rounds_of(const Question& question);

/// Returns the search for quantiles after earlier rounds over so many values, given their merged
/// parts. Throws ooc::Error: `usage` if one does not cover all values; `bad_input`.
ooc::QuantileSearch search_after(const Question& question,
                                 std::span<const std::vector<std::byte>> earlier,
                                 std::uint64_t values);

/// Returns the bins that the first round has chosen for so many values, from its merged part.
/// Throws ooc::Error: `usage` if that does not cover all of them; `bad_input`.
ooc::ChosenBins chosen_bins(const Question& question, std::span<const std::byte> saved,
                            std::uint64_t values);

/// Throws Error(usage) for the question of a program other than ooc-run, and Error(bad_input) for a
/// text that is not a question.
Question question_in(const std::string& json);

}  // namespace ooc_run
