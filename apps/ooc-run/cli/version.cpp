#include "cli/version.hpp"

#include <fmt/core.h>

#include <array>
#include <ooc/detail/kernels/simd.hpp>

#include "cli/build_facts.hpp"

namespace ooc_run {

std::span<const OptionalPart> optional_parts() {
  static constexpr std::array parts{
      OptionalPart{"cuda", "GPUs", build_facts::has_cuda, "a CUDA toolkit 13"},
      OptionalPart{"http", "HTTP and S3", build_facts::has_http, "libcurl4-openssl-dev"},
      OptionalPart{"mpi", "ooc-run-mpi", build_facts::has_mpi, "libopenmpi-dev openmpi-bin"}};
  return parts;
}

std::string describe_parts(std::span<const OptionalPart> parts) {
  std::string there, missing;
  for (const OptionalPart& part : parts) {
    std::string& list = part.is_there ? there : missing;
    if (!list.empty()) list += ", ";
    list += part.name;
    if (!part.is_there) list += fmt::format(" ({})", part.needs);
  }
  if (missing.empty()) return there;
  if (!there.empty()) there += "; ";
  return there + "built without " + missing;
}

std::string describe_version() {
  return fmt::format(
      "ooc-run {}\n"
      "compiler   {}\n"
      "devices    cpu (here with {}), {}\n"
      "engines    uring (liburing {}), threads\n"
      "optional   {}\n"
      "libraries  Thrust and CUB of CCCL {}, Boost {}, fmt {}, nlohmann-json {}\n",
      build_facts::version, build_facts::compiler, ooc::detail::name_of(ooc::detail::best_simd()),
      build_facts::cuda, build_facts::liburing, describe_parts(optional_parts()), build_facts::cccl,
      build_facts::boost, build_facts::fmt, build_facts::nlohmann_json);
}

}  // namespace ooc_run
