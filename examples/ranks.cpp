// Computes the mean of a dataset with several processes: mpirun -n 4 ranks prices.f32
#include <ooc/mpi.hpp>
#include <ooc/ooc.hpp>

#include <cstdio>
#include <memory>

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw ooc::Error(ooc::ErrorKind::usage, "usage: mpirun -n N ranks FILE");
    const std::unique_ptr<ooc::Ranks> ranks = ooc::mpi::ranks();
    ooc::Coordinator coordinator(ooc::best_device(), {.ranks = ranks.get()});
    // Each rank reads some of the records. All ranks get the result.
    const auto [found, stats] = ooc::reduce(coordinator, ooc::open(argv[1]));
    if (ranks->is_first()) {
      std::printf("%.17g, by %zu ranks\n", *found.mean, stats.ranks.size());
    }
    return 0;
  } catch (const ooc::Error& error) {
    std::fprintf(stderr, "ranks: %s\n", error.what());
    return 1;
  }
}
