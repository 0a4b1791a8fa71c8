#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

// Shared code of the fuzz targets. Each target defines this function. libFuzzer calls it with
// inputs that it generates, replay.cpp with inputs from files. It must return for any input, and
// abort if the code that it tests is wrong.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace ooc::detail::fuzz {

/// Aborts the process unless `holds`. Both callers report that together with the input.
inline void require(bool holds, const char* rule) {
  if (holds) return;
  std::fprintf(stderr, "broken rule: %s\n", rule);
  std::abort();
}

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Decodes numbers from an input, front to back. After its end each number is the smallest allowed.
class Numbers {
 public:
  explicit Numbers(std::span<const std::uint8_t> input) : left_(input) {}

  /// Returns a number from `least` to `most`. Takes as few bytes as this range needs.
  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    std::uint64_t value = 0;
    for (std::uint64_t range = most - least; range != 0; range >>= 8) value = value << 8 | byte();
    return most - least == UINT64_MAX ? value : least + value % (most - least + 1);
  }

  /// Returns a number from 0 to `most`. Few digits are as likely as many.
  std::uint64_t of_any_size(std::uint64_t most = UINT64_MAX) {
    const std::uint64_t dropped = between(0, 63);
    return std::min(between(0, UINT64_MAX) >> dropped, most);
  }

 private:
  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const std::uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }

  std::span<const std::uint8_t> left_;
};

}  // namespace ooc::detail::fuzz
