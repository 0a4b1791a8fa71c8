#pragma once

#include <ooc/ranks.hpp>

#include <mpi.h>

#include <memory>

namespace ooc::mpi {

/// Returns a communicator over those of MPI. It uses MPI's C interface and only point-to-point
/// messages, on a duplicate of `processes`. Initialises MPI (MPI_THREAD_FUNNELED) unless the
/// program has, and in that case also finalises it when all ranks have left. Throws Error: `usage`
/// if a launcher of another MPI has started several processes, each of which is alone in MPI;
/// `device` if MPI fails.
///
/// Threads: use it only on the thread that has initialised MPI.
std::unique_ptr<Communicator> communicator(MPI_Comm processes = MPI_COMM_WORLD);

/// Returns the ranks of the program.
///
///     const std::unique_ptr<ooc::Ranks> ranks = ooc::mpi::ranks();
///     ooc::Coordinator coordinator(ooc::best_device(), {.ranks = ranks.get()});
inline std::unique_ptr<Ranks> ranks(MPI_Comm processes = MPI_COMM_WORLD) {
  return std::make_unique<Ranks>(communicator(processes));
}

}  // namespace ooc::mpi
