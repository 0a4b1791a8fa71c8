#include "version.hpp"

#include <fmt/core.h>

#include <string_view>

#include "build_facts.hpp"

namespace ooc_run {
namespace {

/// The widest vector instructions of this processor for which the library has hot loops.
std::string_view vector_instructions() {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  return avx2 && avx512 ? "AVX-512" : avx2 ? "AVX2" : "SSE2";
}

}  // namespace

std::string describe_version() {
  return fmt::format(
      "ooc-run {}\n"
      "compiler   {}\n"
      "devices    cpu (here with {}), {}\n"
      "engines    uring (liburing {}), threads\n"
      "libraries  Thrust and CUB of CCCL {}, Boost {}, fmt {}, nlohmann-json {}\n",
      build_facts::version, build_facts::compiler, vector_instructions(), build_facts::cuda,
      build_facts::liburing, build_facts::cccl, build_facts::boost, build_facts::fmt,
      build_facts::nlohmann_json);
}

}  // namespace ooc_run
