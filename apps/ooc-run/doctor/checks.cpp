#include "doctor/checks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/device/cuda_code.hpp>
#include <utility>

#include "cli/sizes.hpp"
#include "machine/machine_facts.hpp"

namespace ooc_run {
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Returns "13.2" for 13020.
std::string cuda_version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// Returns the PCI Express generation with this rate per lane; 0 if there is none.
int pcie_generation(double gigatransfers) {
  constexpr std::array rates{2.5, 5.0, 8.0, 16.0, 32.0, 64.0};
  const auto found = std::ranges::find(rates, gigatransfers);
  return found == rates.end() ? 0 : static_cast<int>(found - rates.begin()) + 1;
}

std::string link_name(double gigatransfers, std::int64_t lanes) {
  const int generation = pcie_generation(gigatransfers);
  const std::string speed = generation != 0 ? fmt::format("generation {}", generation)
                                            : fmt::format("{} GT/s", gigatransfers);
  return fmt::format("{} x{}", speed, lanes);
}

std::string memory_name(std::uint64_t bytes) {
  return fmt::format("{:.3g} GiB",
                     static_cast<double>(bytes) / static_cast<double>(ooc::detail::GiB));
}

/// Returns the reason why io_uring cannot be used, and how to enable it.
std::pair<std::string, std::string> why_no_io_uring(const UringFacts& uring) {
  if (uring.disabled.value_or(0) != 0) {
    return {fmt::format("kernel.io_uring_disabled is {}", *uring.disabled),
            "sysctl -w kernel.io_uring_disabled=0"};
  }
  if (uring.filtered) {
    return {"a seccomp filter forbids it, as those of containers do",
            "docker run --security-opt seccomp=unconfined, or a profile that allows io_uring"};
  }
  if (uring.errno_value == ENOMEM) {
    return {"the limit on locked memory is too low", "ulimit -l unlimited"};
  }
  return {"this kernel has none, or an old one", "a kernel from Linux 5.6 on"};
}

}  // namespace

HealthCheck& HealthCheck::warn(std::string how_to_fix) {
  state = State::warn;
  fix = std::move(how_to_fix);
  return *this;
}

HealthCheck& HealthCheck::fail(ooc::ErrorKind kind_of_failure, std::string how_to_fix) {
  state = State::fail;
  kind = kind_of_failure;
  fix = std::move(how_to_fix);
  return *this;
}

std::string_view name_of(HealthCheck::State state) {
  constexpr std::array<std::string_view, 3> names{"ok", "warn", "fail"};
  return names[static_cast<std::size_t>(state)];
}

HealthCheck check_gpu(const ooc::detail::CudaFacts& cuda, std::optional<std::size_t> wanted) {
  HealthCheck check{.name = "GPU"};
  check.values["gpus"] = Json::array();
  for (const ooc::detail::GpuFacts& gpu : cuda.gpus) {
    check.values["gpus"].push_back(
        {{"name", gpu.name},
         {"memory_bytes", gpu.memory_bytes},
         {"compute_capability", fmt::format("{}.{}", gpu.major, gpu.minor)},
         {"pci_address", gpu.pci_address}});
    check.facts +=
        fmt::format("{}{}, {}, compute capability {}.{}", check.facts.empty() ? "" : "; ", gpu.name,
                    memory_name(gpu.memory_bytes), gpu.major, gpu.minor);
  }
  if (!cuda.gpus.empty()) {
    const std::string why_not = wanted ? why_not_on_gpu(cuda, *wanted) : std::string();
    if (why_not.empty()) return check;
    check.facts += "; " + why_not;
    if (*wanted < cuda.gpus.size()) {
      const ooc::detail::GpuFacts& gpu = cuda.gpus[*wanted];
      return check.fail(ooc::ErrorKind::device, ooc::detail::how_to_get_code(gpu.major, gpu.minor));
    }
    return check.fail(ooc::ErrorKind::device,
                      "--device cuda:0, or show more in CUDA_VISIBLE_DEVICES");
  }
  check.facts = "none: " + cuda.why_no_gpu + (wanted ? "" : "; the CPU does the work");
  const bool has_code = cuda.built_for != 0;
  const std::string fix = !has_code ? "scripts/setup && cmake --preset release, with a CUDA toolkit"
                          : cuda.driver_allows == 0 ? "install NVIDIA's driver"
                                                    : "nvidia-smi tells more";
  if (wanted) return check.fail(ooc::ErrorKind::device, fix);
  // Without a driver, this is simply a machine without a GPU, and nothing is wrong.
  return has_code && cuda.driver_allows != 0 ? check.warn(fix) : check;
}

HealthCheck check_driver(const ooc::detail::CudaFacts& cuda) {
  HealthCheck check{.name = "driver",
                    .facts = fmt::format("knows CUDA {}, this build is of {} and for {}",
                                         cuda_version(cuda.driver_allows),
                                         cuda_version(cuda.built_for), cuda.architectures),
                    .values = {{"driver_allows", cuda_version(cuda.driver_allows)},
                               {"built_for", cuda_version(cuda.built_for)},
                               {"architectures", cuda.architectures}}};
  if (cuda.driver_allows / 1000 < cuda.built_for / 1000) {
    return check.warn("a newer driver, or a build with an older toolkit");
  }
  for (const ooc::detail::GpuFacts& gpu : cuda.gpus) {
    const std::string why_not = ooc::detail::why_no_code(cuda.architectures, gpu.major, gpu.minor);
    if (why_not.empty()) continue;
    check.facts += "; " + why_not;
    return check.warn(ooc::detail::how_to_get_code(gpu.major, gpu.minor));
  }
  return check;
}

HealthCheck check_link(const std::string& gpu, const std::optional<PcieLink>& link) {
  HealthCheck check{.name = "link", .facts = "not shown by sysfs, as in many virtual machines"};
  if (!link) return check;
  check.values = {{"gpu", gpu},
                  {"lanes", link->lanes},
                  {"most_lanes", link->most_lanes},
                  {"transfers_per_second", link->gigatransfers * 1e9},
                  {"most_transfers_per_second", link->most_gigatransfers * 1e9}};
  check.facts = "PCI Express, " + link_name(link->gigatransfers, link->lanes);
  const std::string best = link_name(link->most_gigatransfers, link->most_lanes);
  if (link->lanes < link->most_lanes) {
    check.facts += ", of " + best + " that it could have";
    return check.warn("put the GPU in a slot with all lanes; lspci -vv shows LnkSta");
  }
  const bool slower = link->gigatransfers < link->most_gigatransfers;
  check.facts += slower ? " while idle, " + best + " at work" : ", the best that it can be";
  return check;
}

HealthCheck check_numa(std::optional<int> gpu, std::optional<int> disk) {
  const auto node = [](std::optional<int> number) {
    return number ? fmt::format("node {}", *number) : std::string("no node that is known");
  };
  HealthCheck check{.name = "NUMA",
                    .facts = fmt::format("GPU near {}, disk near {}", node(gpu), node(disk)),
                    .values = {{"gpu_node", or_null(gpu)}, {"disk_node", or_null(disk)}}};
  if (!gpu || !disk || *gpu == *disk) return check;
  check.facts += ": data cross from one processor to the other";
  return check.warn(fmt::format("numactl --cpunodebind={0} --membind={0} ooc-run ...", *gpu));
}

HealthCheck check_kernel(std::string_view release) {
  int major = 0, minor = 0;
  const char* const end = release.data() + release.size();
  const char* const dot = std::from_chars(release.data(), end, major).ptr;
  if (dot != end) std::from_chars(dot + 1, end, minor);
  const auto at_least = [&](int wanted_major, int wanted_minor) {
    return std::pair(major, minor) >= std::pair(wanted_major, wanted_minor);
  };
  HealthCheck check{.name = "kernel",
                    .facts = fmt::format("Linux {}", release),
                    .values = {{"release", release}}};
  if (!at_least(5, 6)) return check.warn("a kernel from Linux 5.6 on, which has io_uring");
  if (!at_least(6, 5)) check.facts += ", which tells roughly what is cached; from 6.5 on, exactly";
  return check;
}

HealthCheck check_io_uring(const UringFacts& uring) {
  HealthCheck check{.name = "io_uring",
                    .facts = "works",
                    .values = {{"usable", uring.usable},
                               {"disabled", or_null(uring.disabled)},
                               {"seccomp_filter", uring.filtered}}};
  if (uring.usable) return check;
  auto [why, fix] = why_no_io_uring(uring);
  check.facts = fmt::format("{}: {}; reading threads do its work", uring.why_not, why);
  return check.warn(std::move(fix));
}

HealthCheck check_locked_memory(const UringFacts& uring, std::optional<std::uint64_t> limit) {
  HealthCheck check{.name = "memlock",
                    .facts = "limit on locked memory: " + (limit ? format_bytes(*limit) : "none"),
                    .values = {{"limit_bytes", or_null(limit)}}};
  if (uring.why_not_registered.empty()) return check;
  check.facts += "; " + uring.why_not_registered;
  return check.warn("ulimit -l unlimited; docker run --ulimit memlock=-1");
}

HealthCheck check_direct(const LocationFacts& location) {
  HealthCheck check{.name = "direct I/O",
                    .values = {{"path", location.path},
                               {"file_system", location.file_system},
                               {"disk", location.disk ? Json(location.disk->name) : Json(nullptr)},
                               {"direct", location.why_not_direct.empty()}}};
  std::string where = location.file_system;
  if (location.disk) where += "; " + describe(*location.disk);
  if (!location.note.empty()) where += "; " + location.note;
  if (location.why_not_direct.empty()) {
    check.facts = "works on " + where;
    return check;
  }
  check.facts = fmt::format("{} on {}: {}", location.known ? "not possible" : "not tried", where,
                            location.why_not_direct);
  if (!location.known) {
    return check.warn(location.hint.empty() ? "ooc-run doctor FILE, with a file of your data"
                                            : location.hint);
  }
  if (location.in_memory) return check;  // direct I/O has no use on tmpfs
  return check.warn("keep data on a local ext4 or xfs");
}

HealthCheck check_huge_pages(std::string_view setting) {
  HealthCheck check{.name = "huge pages",
                    .facts = setting.empty() ? "this kernel has none" : std::string(setting),
                    .values = {{"setting", setting}}};
  if (setting != "never") return check;
  check.facts += ", so that memory is slower to lock and to read into";
  return check.warn("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

HealthCheck check_memory(std::uint64_t total_bytes, std::uint64_t available_bytes) {
  // The least with which limits_test runs each command, and the default size of a pool.
  constexpr std::uint64_t least_bytes = 32 * ooc::detail::MiB, ample_bytes = 256 * ooc::detail::MiB;
  HealthCheck check{
      .name = "memory",
      .facts = fmt::format("{}, of which {} can be had",
                           format_decimal_bytes(static_cast<double>(total_bytes)),
                           format_decimal_bytes(static_cast<double>(available_bytes))),
      .values = {{"total_bytes", total_bytes}, {"available_bytes", available_bytes}}};
  if (available_bytes < least_bytes) {
    return check.fail(ooc::ErrorKind::memory, "give it 64 MiB, or end what takes the memory");
  }
  if (available_bytes >= ample_bytes) return check;
  check.facts += ", so pools are kept small";
  return check.warn("give it 256 MiB, or end what takes the memory");
}

HealthCheck check_container(std::string_view name, const GroupLimits& limits) {
  HealthCheck check{.name = "container",
                    .facts = name.empty() ? "none seen" : std::string(name),
                    .values = {{"name", name.empty() ? Json(nullptr) : Json(name)},
                               {"memory_bytes", or_null(limits.memory_bytes)},
                               {"cores", or_null(limits.cores)}}};
  if (!limits.memory_bytes && !limits.cores) check.facts += "; no limit on memory or time";
  if (limits.memory_bytes) check.facts += "; memory up to " + format_bytes(*limits.memory_bytes);
  if (limits.cores) check.facts += fmt::format("; the time of {:.3g} cores", *limits.cores);
  return check;
}

HealthCheck check_processor(std::string_view name, std::size_t cores, std::string_view simd) {
  HealthCheck check{.name = "processor",
                    .facts = fmt::format("{}, {}, {}", name, format_count(cores, "core"), simd),
                    .values = {{"name", name}, {"cores", cores}, {"simd", simd}}};
  return simd == "SSE2" ? check.warn("a processor with AVX2: kernels run at a fraction of the rate")
                        : check;
}

HealthCheck check_blas(const BlasFacts& blas) {
  HealthCheck check{
      .name = "BLAS",
      .facts = blas.library + ", for matmul on the CPU",
      .values = {{"library", blas.library.empty() ? Json(nullptr) : Json(blas.library)}}};
  if (!blas.library.empty()) return check;
  check.facts = "no matmul on the CPU: " + blas.why;
  return check.warn(blas.hint.empty() ? "apt-get install libopenblas0-pthread" : blas.hint);
}

HealthCheck check_open_files(std::optional<std::uint64_t> limit) {
  constexpr std::uint64_t least = 16, ample = 1024;
  HealthCheck check{
      .name = "open files",
      .facts = limit ? "up to " + group_digits(std::to_string(*limit)) : "without limit",
      .values = {{"limit", or_null(limit)}}};
  if (!limit || *limit >= ample) return check;
  return *limit < least ? check.fail(ooc::ErrorKind::input, "ulimit -Hn 1024")
                        : check.warn("ulimit -Hn 1024, for datasets of many files");
}

HealthCheck check_threads(const std::optional<ThreadLimit>& limit,
                          const ooc::detail::Workers& workers, std::size_t cores) {
  HealthCheck check{.name = "threads", .facts = "without limit", .values = {{"left", nullptr}}};
  if (!limit) return check;
  check.facts = fmt::format("{} more", group_digits(std::to_string(limit->left)));
  check.values["left"] = limit->left;
  // A pass starts as many readers as it can. It fails if it then cannot start the thread of the
  // pool, of a lane or of the writer.
  const std::uint64_t least = workers.readers + 1 + workers.lanes + 1;
  // In addition: more readers, and the threads of the BLAS library.
  const std::uint64_t ample = least + cores + 30;
  if (limit->left >= ample) return check;
  const std::string fix = fmt::format("raise {}, by {} threads", limit->by, ample - limit->left);
  check.facts += fmt::format(" by {}, of ", limit->by);
  if (limit->left < least) {
    check.facts += fmt::format("{} that a pass starts", least);
    return check.fail(ooc::ErrorKind::memory, fix);
  }
  check.facts += fmt::format("{} that could be of use", ample);
  return check.warn(fix);
}

HealthCheck check_png(std::string_view why_not) {
  HealthCheck check{.name = "pictures",
                    .facts = "SVG, and PNG with rsvg-convert",
                    .values = {{"png", why_not.empty()}}};
  if (why_not.empty()) return check;
  check.facts = fmt::format("{}; SVG pictures do without", why_not);
  return check.warn("apt-get install librsvg2-bin");
}

HealthCheck check_parts(std::span<const OptionalPart> parts) {
  HealthCheck check{.name = "parts", .facts = describe_parts(parts)};
  for (const OptionalPart& part : parts) check.values[std::string(part.key)] = part.is_there;
  return check;
}

HealthCheck check_ceilings(const std::string& path, bool writable, const Ceilings& measured,
                           const std::string& why_none) {
  HealthCheck check{
      .name = "ceilings",
      .values = {{"path", path}, {"writable", writable}, {"measured", describe(measured)}}};
  if (path.empty() || !writable) {
    check.facts = path.empty() ? "no place to keep them: neither HOME nor XDG_CACHE_HOME is set"
                               : path + " cannot be written";
    return check.warn("export XDG_CACHE_HOME=DIRECTORY, one that can be written");
  }
  if (!measured.disk && !measured.page_cache) {
    check.facts = fmt::format("{}, so verdicts cannot say how near a run comes to them",
                              why_none.empty() ? "not measured" : why_none);
    return check.warn("ooc-run bench FILE, on this disk, some minutes");
  }
  check.facts = fmt::format(
      "disk {}, page cache {}", measured.disk ? format_rate(*measured.disk) : "not measured",
      measured.page_cache ? format_rate(*measured.page_cache) : "not measured");
  return check;
}

}  // namespace ooc_run
