#pragma once

#include <ooc/ranks.hpp>

#include <mpi.h>

#include <memory>

namespace ooc::mpi {

/// Returns a communicator over those of MPI. It uses MPI's C interface and messages between two
/// ranks only, on a duplicate of `processes`. Initialises MPI (MPI_THREAD_FUNNELED) unless the
/// program has, and finalises it then when all ranks have left. Throws Error: `usage` if the
/// launcher has started several processes and each is alone for MPI, as with the launcher of
/// another MPI; `device` if MPI fails.
///
/// Threads: that which has initialised MPI.
std::unique_ptr<Communicator> communicator(MPI_Comm processes = MPI_COMM_WORLD);

/// Returns the ranks of the program.
///
///     const std::unique_ptr<ooc::Ranks> ranks = ooc::mpi::ranks();
///     ooc::Coordinator coordinator(ooc::best_device(), {.ranks = ranks.get()});
inline std::unique_ptr<Ranks> ranks(MPI_Comm processes = MPI_COMM_WORLD) {
  return std::make_unique<Ranks>(communicator(processes));
}

}  // namespace ooc::mpi
