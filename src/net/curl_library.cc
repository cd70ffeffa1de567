#include "net/curl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace tacho {
namespace {

Result<CurlLibrary> Load() {
  void* const library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Fail(ErrorKind::kUsage, fmt::format("{}: install libcurl 4", dlerror()));
  }
  CurlLibrary curl;
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    void* const address = dlsym(library, name);
    if (address == nullptr) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
  find(curl.easy_init, "curl_easy_init");
  find(curl.easy_cleanup, "curl_easy_cleanup");
  find(curl.easy_setopt, "curl_easy_setopt");
  find(curl.easy_getinfo, "curl_easy_getinfo");
  find(curl.easy_strerror, "curl_easy_strerror");
  find(curl.slist_append, "curl_slist_append");
  find(curl.slist_free_all, "curl_slist_free_all");
  find(curl.multi_init, "curl_multi_init");
  find(curl.multi_cleanup, "curl_multi_cleanup");
  find(curl.multi_setopt, "curl_multi_setopt");
  find(curl.multi_add_handle, "curl_multi_add_handle");
  find(curl.multi_remove_handle, "curl_multi_remove_handle");
  find(curl.multi_socket_action, "curl_multi_socket_action");
  find(curl.multi_info_read, "curl_multi_info_read");
  decltype(&::curl_global_init) global_init;
  find(global_init, "curl_global_init");
  if (missing != nullptr) {
    return Fail(ErrorKind::kUsage, fmt::format("libcurl.so.4 has no {}", missing));
  }
  if (global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return Fail(ErrorKind::kBug, "libcurl does not start");
  }
  return curl;
}

}  // namespace

const Result<CurlLibrary>& Curl() {
  static const Result<CurlLibrary> library = Load();
  return library;
}

}  // namespace tacho
