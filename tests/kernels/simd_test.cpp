#include <ooc/detail/kernels/simd.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace ooc::detail {
namespace {

/// True if the kernel lists a feature of the processor.
bool kernel_lists(const std::string& feature) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (word == feature) return true;
    }
    return false;
  }
  return false;
}

TEST(Simd, IsWhatTheProcessorHas) {
  const auto levels = supported_simd();
  ASSERT_FALSE(levels.empty());
  EXPECT_EQ(levels.front(), Simd::sse2);
  EXPECT_TRUE(std::ranges::is_sorted(levels));
  EXPECT_EQ(best_simd(), levels.back());
  const bool avx2 = kernel_lists("avx2") && kernel_lists("f16c");
  EXPECT_EQ(std::ranges::count(levels, Simd::avx2), avx2);
  EXPECT_EQ(std::ranges::count(levels, Simd::avx512), avx2 && kernel_lists("avx512bw") &&
                                                          kernel_lists("avx512dq") &&
                                                          kernel_lists("avx512vl"));
}

TEST(Simd, CanBeLimited) {
  EXPECT_EQ(best_simd("sse2"), Simd::sse2);
  const auto levels = supported_simd();
  const bool has_avx2 = std::ranges::count(levels, Simd::avx2) != 0;
  EXPECT_EQ(best_simd("avx2"), has_avx2 ? Simd::avx2 : Simd::sse2);
  EXPECT_EQ(best_simd("avx512"), levels.back());
  EXPECT_EQ(best_simd("neon"), levels.back());
}

TEST(Simd, HasNames) {
  EXPECT_EQ(name_of(Simd::sse2), "SSE2");
  EXPECT_EQ(name_of(Simd::avx2), "AVX2");
  EXPECT_EQ(name_of(Simd::avx512), "AVX-512");
}

}  // namespace
}  // namespace ooc::detail
