#pragma once

#include <cstddef>
#include <string>

#include "lib/simulation/scenario.hpp"

namespace ooc::detail::test {

/// The outcome of a simulation.
struct Outcome {
  bool failed = false, stopped = false;  // the pass with the troubles
  std::size_t resizes = 0;               // of the pool, if the scenario `resizes` it
  std::size_t tunings = 0;               // changes of the queue depth that a tuner wanted
  std::size_t checksums = 0;             // that were compared with the expected ones
  std::string complaint{};               // the first rule that was broken; empty: none
};

/// Runs a scenario and, if its pass failed or was stopped, the same pass without troubles. Checks
/// these rules:
///
/// - a pass that succeeds gives every byte of the source to the operator once, in its place, and
///   writes every byte of the result once;
/// - a pass that is stopped does the same for a prefix of whole steps;
/// - a pass that fails writes no byte twice and no wrong byte;
/// - the checksum is that of the bytes that the operator got;
/// - a pass fails if and only if a trouble has made it fail, and with the first such error;
/// - a slot has one owner at a time;
/// - a pass leaves neither a request nor work of the device in flight.
Outcome simulate(World& world, const Scenario& scenario);

}  // namespace ooc::detail::test
