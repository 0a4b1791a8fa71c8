#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/pass/operation.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/detail/pass/reservation.hpp>

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "pass/station.hpp"

namespace ooc::detail {

/// Throws Error(usage) unless the library works with programs that were compiled with these
/// headers: types of another version may have other members.
void require_version(Version headers);

/// The stations of a coordinator.
struct CoordinatorState {
  Options options;
  std::atomic_flag busy{};  // a pass runs, or some other job has reserved the coordinator
  std::vector<std::unique_ptr<Station>> stations;  // at least one

  Station& first() noexcept { return *stations.front(); }

  /// Returns the first station, which then has all memory of the host to itself.
  Station& first_alone();

  /// Runs a pass on all devices, or on the first if they cannot share it.
  Stats run(Reservation& pass, std::span<const PassInput> inputs, Operation& operation,
            const PassOptions& wanted, std::span<const Output> outputs);

  /// Gives each station an equal part of the memory of the host.
  void divide_memory();
};

}  // namespace ooc::detail
