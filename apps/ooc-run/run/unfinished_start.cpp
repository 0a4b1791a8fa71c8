#include "run/unfinished_start.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ooc/device.hpp>
#include <utility>
#include <vector>

namespace ooc_run {
namespace {

std::atomic<ooc::Coordinator*> unfinished{nullptr};  // the last one not destroyed

}  // namespace

void destroy_unless_starting(std::unique_ptr<ooc::Coordinator> coordinator) {
  const std::vector<ooc::Device*> devices = coordinator->devices();
  if (std::ranges::any_of(devices, &ooc::Device::is_starting)) unfinished = coordinator.release();
}

int end_unless_finished(int code) {
  if (unfinished == nullptr) return code;
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace ooc_run
