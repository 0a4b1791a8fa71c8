#pragma once

#include <ooc/error.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <source_location>
#include <string>
#include <utility>

namespace ooc::detail {

/// Checks the results of CUDA calls of all threads. After a faulty kernel or a hardware error the
/// process has lost the GPU: every later call fails, and nothing is freed any more.
class Calls {
 public:
  /// Throws Error(device), or Error(memory) if memory ran out, unless the call succeeded. Clears
  /// CUDA's last error, so that a later check does not report it again.
  void check(cudaError_t status, std::source_location where = std::source_location::current()) {
    if (status != cudaSuccess) fail(status, "CUDA failed in " + std::string(where.function_name()));
  }

  /// Throws the error of a call that failed.
  [[noreturn]] void fail(cudaError_t status, const std::string& what, ErrorDetails details = {}) {
    cudaGetLastError();
    // Without a context (for example for lack of memory) this query would fail as well.
    if (has_started_) {
      const cudaError_t now = cudaStreamQuery(nullptr);  // does not wait
      cudaGetLastError();
      if (now != cudaSuccess && now != cudaErrorNotReady) has_lost_gpu_ = true;
    }
    const bool is_full = status == cudaErrorMemoryAllocation;
    if (is_full && details.remedies.empty()) {
      details.hint = "free the memory that other programs hold (nvidia-smi shows it)";
      details.remedies = {{RemedyAction::lower, "Options::device_bytes"},
                          {RemedyAction::lower, "Options::chunk_bytes"}};
    }
    if (has_lost_gpu_) {
      details = {
          .why =
              "a kernel or a copy before went wrong, or the GPU itself; this process has lost it",
          .hint = "if it comes again, look for its errors in `nvidia-smi -q` and `dmesg` (Xid)"};
    }
    throw Error(is_full ? ErrorKind::memory : ErrorKind::device,
                what + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")",
                std::move(details));
  }

  /// The GPU has started; from now on it can be lost.
  void started() noexcept { has_started_ = true; }

  bool has_lost_gpu() const noexcept { return has_lost_gpu_; }

 private:
  std::atomic<bool> has_started_{false};
  std::atomic<bool> has_lost_gpu_{false};
};

}  // namespace ooc::detail
