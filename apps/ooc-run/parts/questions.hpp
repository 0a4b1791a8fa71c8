#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <ooc/distinct.hpp>
#include <ooc/histogram.hpp>
#include <ooc/quantile.hpp>
#include <ooc/reduce.hpp>
#include <ooc/top.hpp>
#include <optional>

#include "parts/question.hpp"
#include "request/pairs.hpp"

namespace ooc_run {

using Asked = std::unique_ptr<Question>;

// The kinds of questions. Those that are made of JSON throw Json::exception and ooc::Error for
// settings that no command would write.

/// Statistics, the counts of bins, or both.
Asked summary_question(std::string command, std::optional<ooc::ReduceOptions> reduce,
                       std::optional<ooc::HistogramOptions> bins);
Asked summary_question(const Json& json);

/// The statistics of each column. `columns`: of a row; empty: those of the shape of the data.
Asked columns_question(const ooc::ReduceOptions& reduce, std::optional<std::uint64_t> columns);
Asked columns_question(const Json& json);

/// Counts of pairs in cells. The bins are no rule; if columns are named, both are.
Asked pairs_question(const PairSettings& pairs);
Asked pairs_question(const Json& json);

/// Counts and sums of weights in bins.
Asked weights_question(const ooc::HistogramOptions& bins);
Asked weights_question(const Json& json);

Asked quantile_question(const ooc::QuantileOptions& options);
Asked quantile_question(const Json& json);

Asked top_question(const ooc::TopOptions& options);
Asked top_question(const Json& json);

Asked distinct_question(const ooc::DistinctOptions& options);
Asked distinct_question(const Json& json);

}  // namespace ooc_run
