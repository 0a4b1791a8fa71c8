#pragma once

#include <exception>
#include <ooc/coordinator.hpp>
#include <stop_token>
#include <utility>

#include "bindings.hpp"

namespace ooc_python {

/// Calls `pass` with the options of a pass, and without the GIL. About ten times a second, the
/// handlers of signals run, and `progress`, which may be None, is called with the bytes that are
/// done and all of them (0: not known). An exception from either stops the pass, and is thrown when
/// its threads have ended.
template <class Pass>
auto watched(const nb::object& progress, Pass&& pass) {
  std::stop_source stop;
  std::exception_ptr raised;
  ooc::PassOptions options{.stop = stop.get_token()};
  options.progress = [&](const ooc::Progress& done) {
    if (raised) return;
    const nb::gil_scoped_acquire gil;
    try {
      if (PyErr_CheckSignals() != 0) nb::raise_python_error();
      if (!progress.is_none()) progress(done.bytes, done.total_bytes);
    } catch (...) {
      raised = std::current_exception();
      stop.request_stop();
    }
  };
  const auto run = [&] {
    try {
      const nb::gil_scoped_release released;
      return pass(options);
    } catch (...) {
      if (raised) std::rethrow_exception(raised);
      throw;
    }
  };
  auto result = run();
  if (raised) std::rethrow_exception(raised);
  return result;
}

}  // namespace ooc_python
