#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace ooc_python {

namespace nb = nanobind;

// Each function adds the names of its source file to the module.
void bind_errors(nb::module_& module);
void bind_input(nb::module_& module);
void bind_passes(nb::module_& module);

}  // namespace ooc_python
