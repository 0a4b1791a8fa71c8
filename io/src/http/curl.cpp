#include "http/curl.hpp"

#include <ooc/error.hpp>

#include <dlfcn.h>

#include <array>
#include <string>

namespace ooc::detail {
namespace {

Error not_usable(const std::string& why) {
  return {ErrorKind::usage,
          "addresses cannot be read: libcurl is not usable",
          {.why = why, .hint = "install it (apt-get install libcurl4)"}};
}

/// Loads the variant of libcurl that there is. It stays loaded.
void* load_library() {
  // Their interfaces are the same; the second one uses another library for TLS.
  constexpr std::array names{"libcurl.so.4", "libcurl-gnutls.so.4"};
  std::string why;
  for (const char* const name : names) {
    if (void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    if (why.empty()) why = ::dlerror();
  }
  throw not_usable(why);
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) throw not_usable("it has no function " + std::string(name));
}

Curl load() {
  constexpr unsigned least_version = 0x074b00;  // 7.75.0
  void* const library = load_library();
  decltype(&::curl_global_init) initialize = nullptr;
  decltype(&::curl_version_info) version = nullptr;
  find(library, "curl_global_init", initialize);
  find(library, "curl_version_info", version);
  const curl_version_info_data* const facts = version(CURLVERSION_NOW);
  if (facts->version_num < least_version) {
    throw not_usable(std::string("it is version ") + facts->version + ", not 7.75 or later");
  }
  if (initialize(CURL_GLOBAL_ALL) != CURLE_OK) throw not_usable("it cannot be initialised");
  Curl functions{};
  functions.version = facts->version_num;
  find(library, "curl_easy_init", functions.easy_init);
  find(library, "curl_easy_cleanup", functions.easy_cleanup);
  find(library, "curl_easy_perform", functions.easy_perform);
  find(library, "curl_easy_setopt", functions.easy_setopt);
  find(library, "curl_easy_getinfo", functions.easy_getinfo);
  find(library, "curl_easy_strerror", functions.easy_strerror);
  find(library, "curl_getdate", functions.getdate);
  find(library, "curl_slist_append", functions.slist_append);
  find(library, "curl_slist_free_all", functions.slist_free_all);
  find(library, "curl_multi_init", functions.multi_init);
  find(library, "curl_multi_cleanup", functions.multi_cleanup);
  find(library, "curl_multi_setopt", functions.multi_setopt);
  find(library, "curl_multi_add_handle", functions.multi_add_handle);
  find(library, "curl_multi_remove_handle", functions.multi_remove_handle);
  find(library, "curl_multi_perform", functions.multi_perform);
  find(library, "curl_multi_info_read", functions.multi_info_read);
  find(library, "curl_multi_poll", functions.multi_poll);
  find(library, "curl_multi_wakeup", functions.multi_wakeup);
  find(library, "curl_multi_strerror", functions.multi_strerror);
  return functions;
}

}  // namespace

const Curl& curl() {
  static const Curl functions = load();
  return functions;
}

}  // namespace ooc::detail
