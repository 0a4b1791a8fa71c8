#pragma once

#include <ooc/device.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace ooc::detail::test {

/// Waits for a copy from or to memory that the caller is about to free, also if it fails.
inline void wait_for_copy(Stream& stream) {
  try {
    stream.synchronize();
  } catch (...) {
    stream.drain();
    throw;
  }
}

/// Returns a copy of what is on the device, on the host.
template <class T>
std::vector<std::remove_const_t<T>> on_host(Stream& stream, DeviceSpan<T> in) {
  std::vector<std::remove_const_t<T>> values(in.size);
  if (in.size != 0) stream.copy(values.data(), in.data, in.size * sizeof(T));
  wait_for_copy(stream);
  return values;
}

/// Copies values to the device, and waits for that.
template <class T>
void to_device(Stream& stream, T* target, std::span<const T> values) {
  if (!values.empty()) stream.copy(target, values.data(), values.size_bytes());
  wait_for_copy(stream);
}

template <class T>
void to_device(Stream& stream, T* target, const T& value) {
  to_device(stream, target, std::span<const T>(&value, 1));
}

}  // namespace ooc::detail::test
