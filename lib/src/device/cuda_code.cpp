#include <ooc/detail/device/cuda_code.hpp>

#include <charconv>
#include <sstream>
#include <string>
#include <system_error>

namespace ooc::detail {

namespace {

/// True if code for one architecture, as CMake names it, runs on GPUs of a compute capability. "90"
/// is machine code and PTX, "90-real" machine code, "90-virtual" PTX; "90a" runs on exactly that
/// capability, "100f" in its family.
bool runs_on(std::string_view word, int major, int minor) {
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{}) return true;  // "native", "all" and "OFF" name no architecture
  const std::string_view rest(end, static_cast<std::size_t>(word.data() + word.size() - end));
  const int wanted = major * 10 + minor;
  if (rest.starts_with('a')) return number == wanted;
  const bool same_family = number / 10 == major && number % 10 <= minor;
  if (rest.starts_with('f')) return same_family;
  const bool has_machine_code = rest != "-virtual", has_ptx = rest != "-real";
  return (has_machine_code && same_family) || (has_ptx && number <= wanted);
}

}  // namespace

bool has_code_for(std::string_view architectures, int major, int minor) {
  std::istringstream words{std::string(architectures)};
  for (std::string word; words >> word;) {
    if (runs_on(word, major, minor)) return true;
  }
  return false;
}

std::string why_no_code(std::string_view architectures, int major, int minor) {
  if (has_code_for(architectures, major, minor)) return {};
  return "this build has no code for compute capability " + std::to_string(major) + "." +
         std::to_string(minor) + ", only for " + std::string(architectures);
}

std::string how_to_get_code(int major, int minor) {
  return "rebuild with -DCMAKE_CUDA_ARCHITECTURES=" + std::to_string(major) +
         std::to_string(minor) + ", or on this machine with native";
}

}  // namespace ooc::detail
