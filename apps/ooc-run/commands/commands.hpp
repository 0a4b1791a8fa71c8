#pragma once

#include "cli/arguments.hpp"
#include "cli/interrupt.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

// Each throws ooc::Error.

Outcome run_histogram(const Arguments& arguments, const Interrupt& interrupt);
Outcome run_reduce(const Arguments& arguments, const Interrupt& interrupt);
Outcome run_matmul(const Arguments& arguments, const Interrupt& interrupt);
Outcome run_convert(const Arguments& arguments, const Interrupt& interrupt);
Outcome run_bench(const Arguments& arguments, const Interrupt& interrupt);
Outcome run_info(const Arguments& arguments, const Interrupt& interrupt);
Outcome run_doctor(const Arguments& arguments, const Interrupt& interrupt);
Outcome run_gen(const Arguments& arguments, const Interrupt& interrupt);

}  // namespace ooc_run
