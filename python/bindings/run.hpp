#pragma once

#include <ooc/stats.hpp>

namespace ooc_python {

/// The statistics of the passes of a job.
struct RunStats {
  ooc::Stats stats;
  bool writes = false;
};

}  // namespace ooc_python
