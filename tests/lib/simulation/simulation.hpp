#pragma once

#include <cstddef>
#include <string>

#include "lib/simulation/scenario.hpp"

namespace ooc::test {

/// How a simulation went.
struct Outcome {
  bool failed = false, stopped = false;  // of the pass with the troubles
  std::size_t resizes = 0;               // of the pool, at any time
  std::size_t tunings = 0;               // other numbers of requests that a tuner wanted
  std::size_t checksums = 0;             // that were compared
  std::string complaint{};               // which rule was broken; empty: none
};

/// Runs a scenario and, if it did not come through, the same pass without trouble, and checks that
///
/// - a pass that succeeds has given every byte of the source to the operator, once, in its place,
///   and written every byte of the result, once; one that was stopped, those of a prefix of whole
///   chunks; one that fails, none twice and none that is wrong;
/// - its checksum is that of the bytes that the operator was given;
/// - it fails if and only if something has failed in it, with the first of these errors;
/// - a slot has one owner at a time;
/// - no request is left in flight, and no work of the device.
Outcome simulate(World& world, const Scenario& scenario);

}  // namespace ooc::test
