#include "bindings.hpp"
#include "machine.hpp"

NB_MODULE(_ooc, module) {
  module.doc() = "The library libooc; the package ooc is its interface.";
  nanobind::set_leak_warnings(false);  // a daemon thread may hold an array to the end
  ooc_python::watch_forks();
  ooc_python::bind_errors(module);
  ooc_python::bind_input(module);
  ooc_python::bind_passes(module);
  ooc_python::bind_histograms(module);
  ooc_python::bind_statistics(module);
  ooc_python::bind_outputs(module);
  ooc_python::bind_chunk(module);
  ooc_python::bind_stream(module);
  ooc_python::bind_writer(module);
}
