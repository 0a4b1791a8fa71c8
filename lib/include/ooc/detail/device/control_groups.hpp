#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ooc::detail {

/// A control group that limits this process.
struct ControlGroup {
  std::string directory;  // directory of the group's files
  bool is_version_2;      // file names differ from those of version 1
};

/// Returns the control groups that limit this process for `controller` ("memory", "cpu"): its own
/// group and the enclosing ones, of either version. Not every directory need exist: a container may
/// see its own group as the root, where the path that the kernel reports does not exist. `proc` and
/// `sys`: the mount points of procfs and sysfs.
std::vector<ControlGroup> groups_that_limit(std::string_view controller,
                                            const std::string& proc = "/proc",
                                            const std::string& sys = "/sys");

/// Returns the CPU time that these groups allow, in cores; empty if they set no limit.
std::optional<double> cores_of_time(const std::string& proc = "/proc",
                                    const std::string& sys = "/sys");

}  // namespace ooc::detail
