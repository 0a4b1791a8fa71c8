// A simple C++ program: pread into one block per thread, with OpenMP.
//
//   cpp_openmp FILE histogram|reduce    prints JSON: "seconds" and the answer

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t kBlockBytes = 1 << 20;

std::int64_t read_block(int file, std::int64_t offset, void* target) {
  const ssize_t got = pread(file, target, kBlockBytes, offset);
  if (got <= 0) {
    std::perror("pread");
    std::exit(EXIT_FAILURE);
  }
  return got;
}

void histogram(int file, std::int64_t bytes) {
  // Use several tables, so that equal neighbours do not depend on each other's increment.
  constexpr std::size_t kTables = 4;
  std::array<std::int64_t, 256> counts{};
#pragma omp parallel
  {
    std::vector<unsigned char> block(kBlockBytes);
    std::array<std::array<std::int64_t, 256>, kTables> mine{};
#pragma omp for schedule(dynamic)
    for (std::int64_t offset = 0; offset < bytes; offset += kBlockBytes) {
      const std::int64_t got = read_block(file, offset, block.data());
      std::int64_t i = 0;
      for (; i + 4 <= got; i += 4) {
        for (std::size_t table = 0; table < kTables; ++table) ++mine[table][block[i + table]];
      }
      for (; i < got; ++i) ++mine[0][block[i]];
    }
#pragma omp critical
    for (const auto& table : mine) {
      for (std::size_t bin = 0; bin < counts.size(); ++bin) counts[bin] += table[bin];
    }
  }
  std::printf("\"counts\": [");
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    std::printf("%s%lld", bin == 0 ? "" : ", ", static_cast<long long>(counts[bin]));
  }
  std::printf("]");
}

void reduce(int file, std::int64_t bytes) {
  double sum = 0;
  float least = std::numeric_limits<float>::infinity();
  float most = -least;
#pragma omp parallel reduction(+ : sum) reduction(min : least) reduction(max : most)
  {
    std::vector<float> block(kBlockBytes / sizeof(float));
#pragma omp for schedule(dynamic)
    for (std::int64_t offset = 0; offset < bytes; offset += kBlockBytes) {
      const std::int64_t count =
          read_block(file, offset, block.data()) / static_cast<std::int64_t>(sizeof(float));
      const float* values = block.data();
#pragma omp simd reduction(+ : sum) reduction(min : least) reduction(max : most)
      for (std::int64_t i = 0; i < count; ++i) {
        sum += values[i];
        least = std::min(least, values[i]);
        most = std::max(most, values[i]);
      }
    }
  }
  std::printf("\"sum\": %.17g, \"min\": %.17g, \"max\": %.17g", sum, least, most);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: cpp_openmp FILE histogram|reduce\n");
    return EXIT_FAILURE;
  }
  const auto begin = std::chrono::steady_clock::now();
  const int file = open(argv[1], O_RDONLY);
  struct stat facts {};
  if (file < 0 || fstat(file, &facts) != 0) {
    std::perror(argv[1]);
    return EXIT_FAILURE;
  }
  std::printf("{");
  if (std::string(argv[2]) == "reduce") {
    reduce(file, facts.st_size);
  } else {
    histogram(file, facts.st_size);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf(", \"seconds\": %.9f}\n", seconds.count());
  close(file);
}
