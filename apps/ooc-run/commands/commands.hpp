#pragma once

#include "cli/interrupt.hpp"
#include "request/request.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

// The commands that read a dataset in passes, and the one that merges parts. All of them throw
// ooc::Error.

Outcome run(const HistogramRequest& request, const Interrupt& interrupt);
Outcome run(const ReduceRequest& request, const Interrupt& interrupt);
Outcome run(const QuantileRequest& request, const Interrupt& interrupt);
Outcome run(const TopRequest& request, const Interrupt& interrupt);
Outcome run(const DistinctRequest& request, const Interrupt& interrupt);
Outcome run(const Histogram2dRequest& request, const Interrupt& interrupt);
Outcome run(const ConvertRequest& request, const Interrupt& interrupt);
Outcome run(const GramRequest& request, const Interrupt& interrupt);
Outcome run(const ScanRequest& request, const Interrupt& interrupt);
Outcome run(const SplitRequest& request, const Interrupt& interrupt);
Outcome run(const FilterRequest& request, const Interrupt& interrupt);
Outcome run(const MatmulRequest& request, const Interrupt& interrupt);
Outcome run(const MergeRequest& request, const Interrupt& interrupt);

}  // namespace ooc_run
