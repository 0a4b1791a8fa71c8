#pragma once

#include <string>

#include "bench/run.hpp"
#include "result/report.hpp"

namespace ooc_run {

/// The `result` of ooc-run bench.
Json describe_bench(const BenchResult& result, const std::string& path);

/// The same as tables for people.
std::string bench_text(const BenchResult& result, const std::string& path);

}  // namespace ooc_run
