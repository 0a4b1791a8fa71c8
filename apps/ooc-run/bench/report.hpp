#pragma once

#include <string>

#include "bench/run.hpp"
#include "result/report.hpp"

namespace ooc_run {

/// Returns the `result` of ooc-run bench.
Json describe_bench(const BenchResult& result, const std::string& path);

/// Returns the same as text tables.
std::string bench_text(const BenchResult& result, const std::string& path);

}  // namespace ooc_run
