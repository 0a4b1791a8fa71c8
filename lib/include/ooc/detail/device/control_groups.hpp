#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ooc {

/// A control group that limits this process.
struct ControlGroup {
  std::string directory;  // of the files that say how
  bool is_version_2;      // they are called otherwise in version 1
};

/// The process's own group and those around it, of either version, where they control `controller`:
/// "memory", "cpu". A container may see its own group at the root, where the path that it is told
/// does not exist; not every directory is there, therefore. `proc` and `sys`: where the kernel
/// shows its facts.
std::vector<ControlGroup> groups_that_limit(std::string_view controller,
                                            const std::string& proc = "/proc",
                                            const std::string& sys = "/sys");

/// The time of how many cores these groups leave to this process; empty if they set no limit.
std::optional<double> cores_of_time(const std::string& proc = "/proc",
                                    const std::string& sys = "/sys");

}  // namespace ooc
