// Runs the fuzz target that it is linked to over the files of a folder: `fuzz_NAME FOLDER`. These
// inputs were found by a fuzzer or written by hand. None of them may fail.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "input.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const std::filesystem::directory_iterator folder(argv[1]);
  std::vector<std::filesystem::path> paths(begin(folder), end(folder));
  std::ranges::sort(paths);
  for (const std::filesystem::path& path : paths) {
    std::fprintf(stderr, "%s\n", path.c_str());  // the last path is that of a failing input
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
  std::fprintf(stderr, "%zu inputs\n", paths.size());
  return paths.empty() ? 1 : 0;
}
