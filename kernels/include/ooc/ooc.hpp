#pragma once

// Includes all of libooc that needs no Thrust. To write operators, include <ooc/execute.hpp> too.

#include <ooc/buffer.hpp>
#include <ooc/chunks.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/device.hpp>
#include <ooc/device_sums.hpp>
#include <ooc/fields.hpp>
#include <ooc/filter.hpp>
#include <ooc/fold.hpp>
#include <ooc/io/error.hpp>
#include <ooc/io/source.hpp>
#include <ooc/io/target.hpp>
#include <ooc/kernels/blas.hpp>
#include <ooc/kernels/convert.hpp>
#include <ooc/kernels/histogram.hpp>
#include <ooc/kernels/matmul.hpp>
#include <ooc/kernels/reduce.hpp>
#include <ooc/kernels/summary.hpp>
#include <ooc/map.hpp>
#include <ooc/scan.hpp>
#include <ooc/write.hpp>
