#include "bindings.hpp"

NB_MODULE(_ooc, module) {
  module.doc() = "The library libooc; the package ooc is its interface.";
  nanobind::set_leak_warnings(false);  // a daemon thread may hold an array to the end
  ooc_python::bind_errors(module);
  ooc_python::bind_input(module);
  ooc_python::bind_passes(module);
}
