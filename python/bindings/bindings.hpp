#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string_view>

namespace ooc_python {

namespace nb = nanobind;

/// Returns a text with the name of a file, whose bytes need not be UTF-8.
inline nb::object text_of(std::string_view text) {
  return nb::steal(
      PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

// Each function adds the names of its source file to the module.
void bind_chunk(nb::module_& module);
void bind_errors(nb::module_& module);
void bind_input(nb::module_& module);
void bind_outputs(nb::module_& module);
void bind_passes(nb::module_& module);
void bind_histograms(nb::module_& module);
void bind_statistics(nb::module_& module);
void bind_stream(nb::module_& module);
void bind_writer(nb::module_& module);

}  // namespace ooc_python
