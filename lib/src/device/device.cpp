#include <ooc/device.hpp>

#include <ooc/detail/device/cuda_facts.hpp>

#include "device/devices.hpp"

namespace ooc {

using namespace detail;

Decoder& detail::decoder_of(Stream& stream) noexcept {
  return stream.decoder();
}

void Stream::drain() noexcept {
  try {
    synchronize();
  } catch (...) {
  }
}

std::string why_no_gpu() {
  return why_no_cuda_device();
}

std::unique_ptr<Device> make_device(DeviceKind kind, int ordinal) {
  return kind == DeviceKind::cuda ? make_cuda_device({.ordinal = ordinal}) : make_cpu_device();
}

std::unique_ptr<Device> best_device() {
  return make_device(why_no_gpu().empty() ? DeviceKind::cuda : DeviceKind::cpu);
}

std::vector<std::unique_ptr<Device>> all_devices() {
  std::vector<std::unique_ptr<Device>> devices;
  for (int i = 0; i < visible_gpus(); ++i) devices.push_back(make_device(DeviceKind::cuda, i));
  devices.push_back(make_device(DeviceKind::cpu));
  return devices;
}

}  // namespace ooc
