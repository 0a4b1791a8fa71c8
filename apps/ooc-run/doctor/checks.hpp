#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <ooc/detail/device/cuda_facts.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/error.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/version.hpp"
#include "machine/block_device.hpp"
#include "machine/machine_facts.hpp"
#include "rates/ceilings.hpp"
#include "result/report.hpp"

namespace ooc_run {

/// The result of one check of `ooc-run doctor`.
struct HealthCheck {
  enum class State { ok, warn, fail };

  std::string name;
  std::string facts{};
  Json values = Json::object();  // the facts as JSON
  State state = State::ok;
  std::string fix{};                               // the command that fixes it
  ooc::ErrorKind kind = ooc::ErrorKind::internal;  // fail: kind of the error that ends runs

  HealthCheck& warn(std::string how_to_fix);
  HealthCheck& fail(ooc::ErrorKind kind_of_failure, std::string how_to_fix);
};

std::string_view name_of(HealthCheck::State state);

// Each function judges facts that its caller has collected.

/// `wanted`: ordinal of the GPU that runs require.
HealthCheck check_gpu(const ooc::detail::CudaFacts& cuda, std::optional<std::size_t> wanted);

HealthCheck check_driver(const ooc::detail::CudaFacts& cuda);

HealthCheck check_link(const std::string& gpu, const std::optional<PcieLink>& link);

/// Compares the NUMA nodes of the GPU in use and of the disk, on a machine with several nodes.
HealthCheck check_numa(std::optional<int> gpu, std::optional<int> disk);

HealthCheck check_kernel(std::string_view release);
HealthCheck check_io_uring(const UringFacts& uring);
HealthCheck check_locked_memory(const UringFacts& uring, std::optional<std::uint64_t> limit);

/// Facts about the file or directory that was given.
struct LocationFacts {
  std::string path;
  std::string file_system;
  std::optional<BlockDevice> disk{};
  std::string why_not_direct{};  // empty: direct reads and writes work
  bool in_memory = false;
  bool known = true;   // false: it could not be tried, and why_not_direct says why
  std::string hint{};  // remedy for the reason why it could not be tried
  std::string note{};  // about outputs in this place
};
HealthCheck check_direct(const LocationFacts& location);

HealthCheck check_huge_pages(std::string_view setting);
HealthCheck check_memory(std::uint64_t total_bytes, std::uint64_t available_bytes);
HealthCheck check_container(std::string_view name, const GroupLimits& limits);
HealthCheck check_processor(std::string_view name, std::size_t cores, std::string_view simd);
/// The BLAS library. `library` is empty if it is missing; `why` and `hint` then explain it.
struct BlasFacts {
  std::string library{};
  std::string why{}, hint{};
};
HealthCheck check_blas(const BlasFacts& blas);

HealthCheck check_open_files(std::optional<std::uint64_t> limit);

/// `workers`: the threads that a pass starts.
HealthCheck check_threads(const std::optional<ThreadLimit>& limit,
                          const ooc::detail::Workers& workers, std::size_t cores);

/// `why_not`: why rsvg-convert cannot be used; empty if it works.
HealthCheck check_png(std::string_view why_not);

/// The parts of the program that a build may lack, with the packages that bring them.
HealthCheck check_parts(std::span<const OptionalPart> parts);

/// `writable`: true if ceilings can be stored at `path`. `why_none`: why an existing file has none.
HealthCheck check_ceilings(const std::string& path, bool writable, const Ceilings& measured,
                           const std::string& why_none = {});

}  // namespace ooc_run
