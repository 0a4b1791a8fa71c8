#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

// What the targets have in common. Each is one function, called with one input after another: by
// libFuzzer, which makes them up, or by replay.cpp, which reads them from files. It must return for
// any input, and abort if what it tests is wrong.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace ooc::fuzz {

/// Ends the process, which both callers report together with the input, unless `holds`.
inline void require(bool holds, const char* rule) {
  if (holds) return;
  std::fprintf(stderr, "broken rule: %s\n", rule);
  std::abort();
}

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Numbers out of an input, from its front to its end; when it is used up, the least there can be.
class Numbers {
 public:
  explicit Numbers(std::span<const std::uint8_t> input) : left_(input) {}

  /// At least `least`, at most `most`; takes as few bytes as these need.
  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    std::uint64_t value = 0;
    for (std::uint64_t range = most - least; range != 0; range >>= 8) value = value << 8 | byte();
    return most - least == UINT64_MAX ? value : least + value % (most - least + 1);
  }

  /// From 0 to `most`, as likely of few digits as of many.
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

}  // namespace ooc::fuzz
