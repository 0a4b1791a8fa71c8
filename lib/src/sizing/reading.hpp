#pragma once

#include <ooc/detail/sizing/facts.hpp>
#include <ooc/detail/sizing/io_config.hpp>

#include <cstddef>

#include "sizing/layout.hpp"

namespace ooc::detail {

/// The way in which a pass reads its source.
struct Reading {
  IoConfig config;
  bool is_resident;  // the device has all of it
  bool both_ways;    // cached parts and the rest by turns
  bool reads_inline;
  std::size_t lanes;
  ReasonKind why_lanes;
};

/// True if cached parts of a source and the rest could be read by turns, if its order is free.
bool could_read_both_ways(const Facts& facts, const Options& options);

/// Returns how a pass reads its source. Throws Error(usage) if direct reads were asked for and are
/// impossible.
Reading choose_reading(const Facts& facts, const Wishes& wishes);

/// Returns how the chunks of a plan are read: `config`, unless they lie in too many pieces for
/// direct reads. Throws Error(usage) like choose_reading().
IoConfig reads_of(const SequentialPlan& plan, const Facts& facts, const Wishes& wishes,
                  IoConfig config);

}  // namespace ooc::detail
