#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <ooc/coordinator.hpp>
#include <ooc/detail/device/binding.hpp>
#include <ooc/reduce.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "input.hpp"
#include "machine.hpp"
#include "watched.hpp"

namespace ooc_python {

/// Runs a job on a coordinator: see watched(). An array on a GPU is ordered with CUDA's default
/// stream, which passes do not wait for.
template <class Job>
auto run_on(const Input& input, const Machine& machine, const nb::object& progress, Job&& job) {
  return watched(progress, [&](const ooc::PassOptions& options) {
    const auto coordinator = machine.coordinator();
    if (ooc::Device& device = coordinator->device();
        input.gpu >= 0 && device.kind() == ooc::DeviceKind::cuda) {
      const ooc::detail::DeviceBinding bound(device);
      device.borrow_stream(nullptr)->synchronize();
    }
    return job(*coordinator, options);
  });
}

/// Returns an integer with all its digits, a float, or None.
inline nb::object number(const ooc::Scalar& value) {
  if (!value.has_value()) return nb::none();
  if (!value.is_integer()) return nb::float_(value.value());
  const std::string digits = to_string(value);
  return nb::steal(PyLong_FromString(digits.c_str(), nullptr, 10));
}

template <class T>
nb::object number(const std::optional<T>& value) {
  return value ? nb::cast(*value) : nb::none();
}

template <class T>
nb::bytes bytes_of(const std::vector<T>& values) {
  return nb::bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

}  // namespace ooc_python
