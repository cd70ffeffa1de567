#pragma once

#include <curl/curl.h>

#include "base/result.h"

namespace tacho {

// The libcurl functions that tacho calls, named without "curl_".
struct CurlLibrary {
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_socket_action) multi_socket_action;
  decltype(&::curl_multi_info_read) multi_info_read;
  // The file with the certificates to trust; null: libcurl knows one itself.
  const char* authorities = nullptr;
};

// Loads libcurl at the first call, from any thread, and never unloads it. tacho does not link
// libcurl, because the some thirty libraries behind it would make `tacho --help` and `tacho
// analyze` 9 ms slower. The result is an error if libcurl is not installed or does not start; never
// while an HttpClient exists. A static program has libcurl in it (curl_library_linked.cc).
const Result<CurlLibrary>& Curl();

}  // namespace tacho
