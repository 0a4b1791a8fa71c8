#pragma once

// Includes the built-in operators: reduce(), histogram(), summarize(), convert() and matmul().

#include <ooc/detail/kernels/blas.hpp>
#include <ooc/detail/kernels/convert.hpp>
#include <ooc/detail/kernels/histogram.hpp>
#include <ooc/detail/kernels/matmul.hpp>
#include <ooc/detail/kernels/reduce.hpp>
#include <ooc/detail/kernels/summary.hpp>
