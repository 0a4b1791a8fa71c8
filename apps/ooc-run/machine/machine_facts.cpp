#include "machine/machine_facts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ooc/detail/base/text_file.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/device/control_groups.hpp>
#include <ooc/detail/device/cuda_code.hpp>
#include <ooc/detail/engine/engine.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>
#include <sstream>
#include <system_error>

#include "machine/proc_files.hpp"

namespace ooc_run {
namespace {

std::filesystem::path pci_device(const std::string& address, const KernelFiles& files) {
  return files.sys / "bus/pci/devices" / address;
}

/// Returns the number in a file such as "16.0 GT/s PCIe".
double gigatransfers_in(const std::filesystem::path& path) {
  const std::string line = first_line(path);
  double number = 0;
  std::from_chars(line.data(), line.data() + line.size(), number);
  return number;
}

template <class T>
void lower(std::optional<T>& least, T value) {
  least = std::min(least.value_or(value), value);
}

std::optional<std::uint64_t> memory_limit(const KernelFiles& files) {
  constexpr std::int64_t no_limit = std::int64_t{1} << 60;  // version 1 has a huge number
  std::optional<std::uint64_t> least;
  for (const ooc::detail::ControlGroup& group :
       ooc::detail::groups_that_limit("memory", files.proc, files.sys)) {
    const auto limit = number_in(group.directory +
                                 (group.is_version_2 ? "/memory.max" : "/memory.limit_in_bytes"));
    if (limit && *limit < no_limit) lower(least, static_cast<std::uint64_t>(*limit));
  }
  return least;
}

/// Returns the number at the beginning of a text: 1024 for "1024 kB".
std::optional<std::uint64_t> leading_number(std::string_view text, int base = 10) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

/// Returns the soft limit of a resource, by its name in /proc/self/limits. Empty if "unlimited".
std::optional<std::uint64_t> soft_limit(const KernelFiles& files, const std::string& resource) {
  return leading_number(value_of(files.proc / "self/limits", resource));
}

std::uint64_t room(std::uint64_t limit, std::uint64_t used) {
  return limit - std::min(limit, used);
}

std::optional<std::uint64_t> threads_in_groups(const KernelFiles& files) {
  std::optional<std::uint64_t> least;
  for (const ooc::detail::ControlGroup& group :
       ooc::detail::groups_that_limit("pids", files.proc, files.sys)) {
    const auto limit = number_in(group.directory + "/pids.max");
    const auto used = number_in(group.directory + "/pids.current");
    if (limit && used) {
      lower(least, static_cast<std::uint64_t>(std::max(*limit - *used, std::int64_t{0})));
    }
  }
  return least;
}

/// All processes of a user share this limit. It does not bind root and processes with CAP_SYS_ADMIN
/// or CAP_SYS_RESOURCE.
std::optional<std::uint64_t> threads_of_user(const KernelFiles& files) {
  constexpr std::uint64_t system_admin = 1 << 21, system_resource = 1 << 24;  // capabilities(7)
  const std::filesystem::path self = files.proc / "self/status";
  const auto limit = soft_limit(files, "Max processes");
  const auto user = leading_number(value_of(self, "Uid"));
  const std::uint64_t rights = leading_number(value_of(self, "CapEff"), 16).value_or(0);
  if (!limit || !user || *user == 0 || (rights & (system_admin | system_resource)) != 0) return {};
  std::uint64_t used = 0;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(files.proc, failed), end; entry != end && !failed;
       entry.increment(failed)) {
    if (!leading_number(entry->path().filename().string())) continue;
    const std::filesystem::path status = entry->path() / "status";
    if (leading_number(value_of(status, "Uid")) != user) continue;
    used += leading_number(value_of(status, "Threads")).value_or(0);
  }
  return room(*limit, used);
}

std::optional<std::uint64_t> threads_in_address_space(const KernelFiles& files) {
  constexpr std::uint64_t usual_stack_bytes =
      2 * ooc::detail::MiB;  // glibc's default without a limit
  const auto limit = soft_limit(files, "Max address space");
  if (!limit) return {};
  const auto used_kib = leading_number(value_of(files.proc / "self/status", "VmSize"));
  return room(*limit, used_kib.value_or(0) * ooc::detail::KiB) /
         std::max<std::uint64_t>(soft_limit(files, "Max stack size").value_or(usual_stack_bytes),
                                 1);
}

/// Returns the line of the mount at "/". Other lines are no sign of a container: container runtimes
/// have mounts on their hosts too.
std::string root_mount(const std::filesystem::path& path) {
  std::istringstream mounts(ooc::detail::read_text(path));
  for (std::string line; std::getline(mounts, line);) {
    // "36 35 0:32 / / rw,relatime - overlay overlay rw,...": the fifth word is the mount point.
    std::istringstream words(line);
    std::string word;
    for (int i = 0; i < 5; ++i) words >> word;
    if (word == "/") return line;
  }
  return {};
}

/// Registers as many bytes with io_uring as a typical pool has. Returns the engine's note, which is
/// empty on success.
std::string failure_to_register() {
  constexpr std::size_t pool_bytes = 16 * ooc::detail::MiB;
  const auto device = ooc::make_device(ooc::DeviceKind::cpu);
  ooc::MemoryResource& memory = device->host_memory();
  void* const pool = memory.allocate(pool_bytes, ooc::detail::page_bytes);
  std::string note;
  {
    const ooc::detail::EngineOptions options{
        .kind = ooc::EngineKind::uring,
        .depth = 1,
        .storage = {static_cast<std::byte*>(pool), pool_bytes}};
    note = ooc::detail::make_engine(options)->note();
  }
  memory.deallocate(pool, pool_bytes, ooc::detail::page_bytes);
  return note;
}

}  // namespace

UringFacts uring_facts(const KernelFiles& files) {
  UringFacts facts;
  facts.disabled = number_in(files.proc / "sys/kernel/io_uring_disabled");
  facts.filtered = value_of(files.proc / "self/status", "Seccomp") == "2";
  try {
    ooc::detail::make_engine({.kind = ooc::EngineKind::uring, .depth = 1});
    facts.usable = true;
  } catch (const ooc::Error& refused) {
    facts.why_not = refused.what();
    facts.errno_value = refused.details().errno_value;
    return facts;
  }
  try {
    facts.why_not_registered = failure_to_register();
  } catch (const ooc::Error& error) {
    facts.why_not_registered = error.what();
  }
  return facts;
}

std::optional<PcieLink> pcie_link(const std::string& address, const KernelFiles& files) {
  const std::filesystem::path device = pci_device(address, files);
  const auto lanes = number_in(device / "current_link_width");
  const auto most_lanes = number_in(device / "max_link_width");
  if (address.empty() || !lanes || !most_lanes) return {};
  return PcieLink{gigatransfers_in(device / "current_link_speed"),
                  gigatransfers_in(device / "max_link_speed"), *lanes, *most_lanes};
}

std::optional<int> numa_node_of(const std::string& address, const KernelFiles& files) {
  const auto node = number_in(pci_device(address, files) / "numa_node");
  if (address.empty() || !node || *node < 0) return {};
  return static_cast<int>(*node);
}

bool has_many_numa_nodes(const KernelFiles& files) {
  const std::string online = first_line(files.sys / "devices/system/node/online");  // "0", "0-1"
  return online.find_first_of("-,") != std::string::npos;
}

GroupLimits group_limits(const KernelFiles& files) {
  return {memory_limit(files), ooc::detail::cores_of_time(files.proc, files.sys)};
}

std::optional<ThreadLimit> thread_limit(const KernelFiles& files) {
  std::optional<ThreadLimit> tightest;
  const auto look = [&](std::optional<std::uint64_t> left, std::string_view by) {
    if (left && (!tightest || *left < tightest->left)) tightest = {*left, by};
  };
  look(threads_in_groups(files), "pids.max of its control group");
  look(threads_of_user(files), "ulimit -u");
  look(threads_in_address_space(files), "ulimit -v");
  return tightest;
}

std::string container_name(const KernelFiles& files) {
  struct Sign {
    const char *word, *name;
  };
  // Container runtimes leave their names in the control groups of process 1 and in the root mount.
  constexpr std::array signs{Sign{"kubepods", "kubernetes"}, Sign{"docker", "docker"},
                             Sign{"libpod", "podman"}, Sign{"lxc", "lxc"},
                             Sign{"containerd", "containerd"}};
  const std::string text =
      ooc::detail::read_text(files.proc / "1/cgroup") + root_mount(files.proc / "self/mountinfo");
  for (const Sign& sign : signs) {
    if (text.find(sign.word) != std::string::npos) return sign.name;
  }
  return {};
}

ProcessLimits process_limits(const KernelFiles& files) {
  return {soft_limit(files, "Max locked memory"), soft_limit(files, "Max open files")};
}

std::string why_not_on_gpu(const ooc::detail::CudaFacts& cuda, std::size_t ordinal) {
  if (cuda.gpus.empty()) return cuda.why_no_gpu;
  if (ordinal < cuda.gpus.size()) {
    const ooc::detail::GpuFacts& gpu = cuda.gpus[ordinal];
    return ooc::detail::why_no_code(cuda.architectures, gpu.major, gpu.minor);
  }
  return fmt::format("there is no GPU {}, the last is {}", ordinal, cuda.gpus.size() - 1);
}

}  // namespace ooc_run
