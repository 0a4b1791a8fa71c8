#include <ooc/detail/base/shared_library.hpp>

#include <ooc/detail/base/blocked_signals.hpp>
#include <ooc/error.hpp>

#include <dlfcn.h>

namespace ooc::detail {
namespace {

/// Returns the last error of the dynamic loader on this thread.
std::string loader_error() {
  const char* const message = dlerror();
  return message == nullptr ? "unknown error" : message;
}

}  // namespace

SharedLibrary::SharedLibrary(const std::string& what, std::span<const char* const> names,
                             ErrorKind missing, const std::string& hint)
    : what_(what), missing_(missing) {
  std::string why;
  const BlockedSignals blocked;  // inherited by threads that the library starts
  for (const char* const name : names) {
    // NODELETE: such libraries have threads and exit handlers, whose code must stay mapped until
    // the process ends. dlclose() then only drops a reference.
    library_.reset(dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
    if (library_) return;
    why += (why.empty() ? "" : "; ") + loader_error();
  }
  throw Error(missing, what + " is not there", {.why = why, .hint = hint});
}

void SharedLibrary::Close::operator()(void* library) const {
  dlclose(library);
}

void* SharedLibrary::find(const char* name) const {
  void* const address = dlsym(library_.get(), name);
  if (address != nullptr) return address;
  throw Error(missing_, what_ + " has no function " + name,
              {.why = loader_error(), .hint = "install a newer version of it"});
}

}  // namespace ooc::detail
