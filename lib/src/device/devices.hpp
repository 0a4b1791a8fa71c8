#pragma once

#include <ooc/device.hpp>

#include <memory>
#include <string>

namespace ooc::detail {

std::unique_ptr<Device> make_cpu_device();

// Defined in cuda_device.cpp, or in cuda_absent.cpp in builds without CUDA.
std::string why_no_cuda_device();

}  // namespace ooc::detail
