#pragma once

#include <ooc/error.hpp>

#include <memory>
#include <span>
#include <string>

namespace ooc::detail {

/// A shared library that is loaded on demand, so that a program starts without it.
class SharedLibrary {
 public:
  /// Loads the first of `names` that can be loaded. If none can, throws Error(missing), which says
  /// that `what` is not there, with the loader's message for each name, and `hint`.
  SharedLibrary(const std::string& what, std::span<const char* const> names, ErrorKind missing,
                const std::string& hint);

  /// Returns the function of this name. Throws Error(missing) if there is none.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(find(name));
  }

 private:
  struct Close {
    void operator()(void* library) const;
  };

  void* find(const char* name) const;

  std::string what_;
  ErrorKind missing_;
  std::unique_ptr<void, Close> library_;
};

}  // namespace ooc::detail
