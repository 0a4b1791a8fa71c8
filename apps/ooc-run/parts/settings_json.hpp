#pragma once

#include <cstdint>
#include <ooc/distinct.hpp>
#include <ooc/error.hpp>
#include <ooc/histogram.hpp>
#include <ooc/quantile.hpp>
#include <ooc/reduce.hpp>
#include <ooc/top.hpp>
#include <string>

#include "result/json.hpp"

namespace ooc_run {

/// Returns the error for a question that no command of ooc-run asks.
ooc::Error bad_question(const std::string& why);

// Settings as JSON, which may not change: parts merge if theirs are equal. The functions that read
// them throw Json::exception and Error(bad_input).

/// Throws Error(bad_input) for numbers of columns whose rows do not fit the address space.
void require_columns(std::uint64_t columns);

/// Reads an integer of 64 bits, which JSON has as text.
std::uint64_t integer_in_text(const Json& json);

Json to_json(const ooc::HistogramOptions& options);
Json to_json(const ooc::ReduceOptions& options);
Json to_json(const ooc::QuantileOptions& options);
Json to_json(const ooc::TopOptions& options);
Json to_json(const ooc::DistinctOptions& options);

ooc::HistogramOptions histogram_in(const Json& json);
ooc::ReduceOptions reduce_in(const Json& json);
ooc::QuantileOptions quantile_in(const Json& json);
ooc::TopOptions top_in(const Json& json);
ooc::DistinctOptions distinct_in(const Json& json);

}  // namespace ooc_run
