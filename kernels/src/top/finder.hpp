#pragma once

#include "top/rank.hpp"

#include <ooc/detail/kernels/simd.hpp>
#include <ooc/device.hpp>
#include <ooc/dtype.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ooc::detail::tops {

/// The findings of a lane.
struct Kept {
  std::vector<Candidate> best{};  // the best of its elements, k at most; in any order
  std::uint64_t nan = 0;
};

/// Finds the best elements of a lane. It keeps candidates, and knows the worst of the best k so
/// far, which other elements must beat. Chunks come in any order.
class Finder {
 public:
  virtual ~Finder() = default;

  /// Looks at the elements of a chunk; `first` is the index of its first one.
  virtual void look(Stream& stream, DeviceSpan<const std::byte> data, std::uint64_t first) = 0;

  /// Returns what was found, in host memory, and frees the memory of the lane.
  virtual Kept finish(Stream& stream) = 0;
};

/// How many elements to find, and which.
struct Wanted {
  std::size_t k;
  bool smallest;
};

/// Returns the room for candidates besides the best k. They are cut to k when there is none left,
/// which takes time in proportion to all of them, so there is more room for larger k.
constexpr std::size_t spare_room(std::size_t k, std::size_t least) {
  return std::clamp(k, least, std::size_t{1} << 22);
}

/// Returns the candidates that a lane on the CPU has room for.
constexpr std::size_t cpu_room(std::size_t k) {
  return k + spare_room(k, 4096);
}

std::unique_ptr<Finder> make_cpu_finder(ElementType type, const Wanted& wanted, Simd simd);
std::unique_ptr<Finder> make_cuda_finder(ElementType type, const Wanted& wanted, Stream& stream);

}  // namespace ooc::detail::tops
