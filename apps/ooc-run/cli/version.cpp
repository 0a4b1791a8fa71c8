#include "cli/version.hpp"

#include <fmt/core.h>

#include <ooc/detail/kernels/simd.hpp>

#include "cli/build_facts.hpp"

namespace ooc_run {

std::string describe_version() {
  return fmt::format(
      "ooc-run {}\n"
      "compiler   {}\n"
      "devices    cpu (here with {}), {}\n"
      "engines    uring (liburing {}), threads\n"
      "libraries  Thrust and CUB of CCCL {}, Boost {}, fmt {}, nlohmann-json {}\n",
      build_facts::version, build_facts::compiler, ooc::name_of(ooc::best_simd()),
      build_facts::cuda, build_facts::liburing, build_facts::cccl, build_facts::boost,
      build_facts::fmt, build_facts::nlohmann_json);
}

}  // namespace ooc_run
