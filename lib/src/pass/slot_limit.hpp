#pragma once

#include <ooc/detail/pool/chunk_pool.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>

namespace ooc::detail {

/// The number of slots of a pool that a pass uses: more while a GPU starts, so that the disk is not
/// idle meanwhile, and then as many as the queue depth needs. Any thread.
class SlotLimit {
 public:
  /// `ahead`: slots while the device starts, or 0. The pool must outlive this object.
  SlotLimit(ChunkPool& pool, std::size_t ahead, std::size_t slots)
      : pool_(pool), ahead_(ahead), slots_(slots) {
    apply();
  }

  void set(std::size_t slots) {
    const std::scoped_lock lock(mutex_);
    slots_ = slots;
    apply();
  }

  void stop_reading_ahead() {
    const std::scoped_lock lock(mutex_);
    ahead_ = 0;
    apply();
  }

 private:
  void apply() { pool_.set_limit(std::max(ahead_, slots_)); }

  ChunkPool& pool_;
  std::mutex mutex_;
  std::size_t ahead_, slots_;
};

}  // namespace ooc::detail
