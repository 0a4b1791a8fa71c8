#pragma once

#include <cstddef>
#include <memory>
#include <ooc/coordinator.hpp>
#include <string_view>
#include <vector>

namespace ooc_python {

/// The machine that passes run on: values of the options of Python.
struct Machine {
  std::vector<int> devices{};  // -1: the CPU, else the index of a GPU; empty: the best device
  std::size_t memory = 0, vram = 0, threads = 0;  // 0: chosen by the library
  std::size_t streams = 0;                        // chunks on the device at once; 0: likewise

  /// Returns a coordinator that nothing else uses. When it is given back, and its buffers are not
  /// large, it is kept for a later call: to make one takes longer than a pass over a small array.
  /// Throws Error.
  std::shared_ptr<ooc::Coordinator> coordinator() const;

  friend bool operator==(const Machine&, const Machine&) = default;
};

/// Makes children of fork() begin anew. Called once.
void watch_forks();

/// The process in which an object was made. In a child of fork(), the threads of a pass are
/// missing, so what belongs to one is neither used nor destroyed.
class Process {
 public:
  Process();
  bool is_this() const;
  /// Throws Error(usage) in a child.
  void require_this(std::string_view what) const;

 private:
  int forks_;
};

}  // namespace ooc_python
