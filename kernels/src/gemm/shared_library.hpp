#pragma once

#include <memory>
#include <span>
#include <string>

namespace ooc {

/// A library that is loaded when it is needed, so that a program starts without it.
class SharedLibrary {
 public:
  /// Loads the first of `names` that is there, with what it depends on. Throws Error(device):
  /// `what` is not there, with the loader's words for each name, and `hint`.
  SharedLibrary(const std::string& what, std::span<const char* const> names,
                const std::string& hint);

  /// The function that has this name and type. Throws Error(device) if there is none.
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
  std::unique_ptr<void, Close> library_;
};

}  // namespace ooc
