#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "matmul/plan/schedule.hpp"

namespace ooc::detail::product {

/// The buffers of one operand on the device. The least recently used one is replaced, so that with
/// two buffers a panel can be loaded during the previous product.
class PanelBuffers {
 public:
  explicit PanelBuffers(std::size_t count) : buffers_(count) {}

  struct Use {
    std::uint32_t buffer;
    bool load;  // the panel must be loaded first
  };

  /// Returns the buffer that holds panel `panel` for step `step`. Steps must increase from call to
  /// call.
  Use use(std::uint64_t panel, std::uint64_t step);

 private:
  struct Buffer {
    std::uint64_t panel = 0;
    std::uint64_t next_step = 0;  // one after the step of its last use; 0 if empty
  };
  std::vector<Buffer> buffers_;
};

/// Decides which panels a cache of at most `entries` keeps, by Belady's rule: all loads are known,
/// so it drops the panel whose next load is furthest in the future, be it in the cache or new. No
/// other rule has more hits. Sets `from` and `keep`, and returns the number of entries used.
std::size_t plan_cache(const Tiling& tiling, std::uint64_t entries, std::vector<Load>& loads);

}  // namespace ooc::detail::product
