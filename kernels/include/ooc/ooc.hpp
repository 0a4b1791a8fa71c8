#pragma once

#include <ooc/check.hpp>
#include <ooc/chunks.hpp>
#include <ooc/collect.hpp>
#include <ooc/convert.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/device.hpp>
#include <ooc/distinct.hpp>
#include <ooc/dtype.hpp>
#include <ooc/error.hpp>
#include <ooc/filter.hpp>
#include <ooc/filter_by.hpp>
#include <ooc/fold.hpp>
#include <ooc/gram.hpp>
#include <ooc/histogram.hpp>
#include <ooc/histogram_2d.hpp>
#include <ooc/map.hpp>
#include <ooc/matmul.hpp>
#include <ooc/memory.hpp>
#include <ooc/quantile.hpp>
#include <ooc/ranks.hpp>
#include <ooc/records.hpp>
#include <ooc/reduce.hpp>
#include <ooc/resident.hpp>
#include <ooc/running.hpp>
#include <ooc/scan.hpp>
#include <ooc/source.hpp>
#include <ooc/split.hpp>
#include <ooc/split_by.hpp>
#include <ooc/stats.hpp>
#include <ooc/target.hpp>
#include <ooc/top.hpp>
#include <ooc/weighted_histogram.hpp>
#include <ooc/write.hpp>

/// All of libooc that needs no Thrust. To write operators, include <ooc/execute.hpp> too.
///
///     ooc::Coordinator coordinator(ooc::best_device());
///     const auto [found, stats] = ooc::reduce(coordinator, ooc::open("prices.f32"));
///     std::cout << to_string(found.sum) << '\n';
namespace ooc {}
