#include "bindings.hpp"

NB_MODULE(_ooc, module) {
  module.doc() = "The library libooc; the package ooc is its interface.";
  ooc_python::bind_errors(module);
  ooc_python::bind_input(module);
  ooc_python::bind_passes(module);
}
