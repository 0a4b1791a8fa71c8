#pragma once

#include <ooc/io/chunk_pool.hpp>

#include <exception>
#include <mutex>

namespace ooc {

/// Keeps the first exception of the threads of a pass and wakes the others, which then leave with
/// Aborted.
class Failure {
 public:
  explicit Failure(ChunkPool& pool) : pool_(pool) {}

  /// Runs one thread's share of the pass.
  template <class Body>
  void guard(Body&& body) noexcept {
    try {
      body();
    } catch (const Aborted&) {
      // The echo of an error that is kept already.
    } catch (...) {
      keep(std::current_exception());
    }
  }

  void keep(std::exception_ptr error) noexcept {
    {
      const std::scoped_lock lock(mutex_);
      if (!first_) first_ = std::move(error);
    }
    pool_.abort();
  }

  /// When all threads have ended.
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  ChunkPool& pool_;
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace ooc
