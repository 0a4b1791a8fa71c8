#include <ooc/cuda_code.hpp>

#include <charconv>
#include <sstream>

namespace ooc {

bool has_code_for(std::string_view architectures, int major, int minor) {
  std::istringstream words{std::string(architectures)};
  for (std::string word; words >> word;) {
    int number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    const bool same_family = number / 10 == major && number % 10 <= minor;
    const bool has_ptx =
        word.find("-real") == std::string::npos && word.find('a') == std::string::npos;
    if (word == "native" || word.starts_with("all") || same_family ||
        (has_ptx && number > 0 && number <= major * 10 + minor)) {
      return true;
    }
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

}  // namespace ooc
