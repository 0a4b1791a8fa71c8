#pragma once

// The checks of argument types are macros of GNU C that C++ compilers warn about.
#define CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_DEPRECATION  // the newer CURLOPT_PROTOCOLS_STR came with 7.85
#include <curl/curl.h>

namespace ooc::detail {

/// The functions of libcurl. It is loaded when the first address is opened: its thirty shared
/// libraries would make a program that reads only local files take four times as long to start.
struct Curl {
  unsigned version;  // 0x075801 is 7.88.1
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_perform) easy_perform;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_getdate) getdate;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_wakeup) multi_wakeup;
  decltype(&::curl_multi_strerror) multi_strerror;
};

/// Returns libcurl. Thread-safe. Throws Error(usage) if it is not on this machine, or is older than
/// 7.75, which does not sign requests.
const Curl& curl();

}  // namespace ooc::detail
