#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "matmul/plan/schedule.hpp"

namespace ooc::product {

/// The buffers of one operand on the device. A panel that is in none of them takes the place of the
/// one that was used longest ago, so with two buffers it can come during the product before.
class PanelBuffers {
 public:
  explicit PanelBuffers(std::size_t count) : buffers_(count) {}

  struct Use {
    std::uint32_t buffer;
    bool load;  // the panel is not there yet
  };

  /// The buffer out of which step `step` takes panel `panel`. Steps rise.
  Use use(std::uint64_t panel, std::uint64_t step);

 private:
  struct Buffer {
    std::uint64_t panel = 0;
    std::uint64_t next_step = 0;  // the one after its last use; 0: it is empty
  };
  std::vector<Buffer> buffers_;
};

/// Decides which panels a cache of at most `entries` keeps, by Belady's rule: since all loads are
/// known, what gives way, or is not kept at all, is what is needed furthest in the future. Nothing
/// else hits as often. Sets `from` and `keep` and returns how many entries are used.
std::size_t plan_cache(const Tiling& tiling, std::uint64_t entries, std::vector<Load>& loads);

}  // namespace ooc::product
