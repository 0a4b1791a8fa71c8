#include <ooc/detail/device/control_groups.hpp>

#include <ooc/detail/base/text_file.hpp>

#include <algorithm>
#include <cstddef>
#include <sstream>

namespace ooc::detail {

// Uses strings, because libstdc++ 12 corrupts the heap if memory runs out in `path("a/") / "b"`.
std::vector<ControlGroup> groups_that_limit(std::string_view controller, const std::string& proc,
                                            const std::string& sys) {
  const std::string root = sys + "/fs/cgroup", name(controller);
  std::vector<ControlGroup> groups;
  std::istringstream lines(read_text(proc + "/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    // "0::/path" is version 2; "7:memory,cpu:/path" lists controllers of version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_version_2 = controllers == ",,";
    if (!is_version_2 && controllers.find("," + name + ",") == std::string::npos) continue;
    const std::string mount = is_version_2 ? root : root + "/" + name;
    const std::string path = line.substr(second + 1);
    for (std::size_t end = path.size(); end != std::string::npos; end = path.rfind('/', end - 1)) {
      groups.push_back({mount + path.substr(0, end), is_version_2});
      if (end == 0) break;
    }
  }
  return groups;
}

std::optional<double> cores_of_time(const std::string& proc, const std::string& sys) {
  std::optional<double> least;
  for (const ControlGroup& group : groups_that_limit("cpu", proc, sys)) {
    const std::string directory = group.directory + "/";
    const std::string text = group.is_version_2 ? read_text(directory + "cpu.max")
                                                : read_text(directory + "cpu.cfs_quota_us") + " " +
                                                      read_text(directory + "cpu.cfs_period_us");
    double quota = 0, period = 0;  // "max 100000" or "-1 100000" if there is no limit
    if (std::istringstream(text) >> quota >> period && quota > 0 && period > 0) {
      least = std::min(least.value_or(quota / period), quota / period);
    }
  }
  return least;
}

}  // namespace ooc::detail
