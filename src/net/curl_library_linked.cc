// The libcurl of a static program (TACHO_STATIC), in place of curl_library.cc.
#include <unistd.h>

#include "net/curl_library.h"

namespace tacho {
namespace {

// The certificates of this system's authorities. The program may have been built on another
// distribution, so it looks where Debian, Fedora, SUSE, RHEL and Alpine have them.
const char* Authorities() {
  for (const char* file :
       {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/cert.pem"}) {
    if (access(file, R_OK) == 0) return file;
  }
  return nullptr;
}

Result<CurlLibrary> Start() {
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return Fail(ErrorKind::kBug, "libcurl does not start");
  }
  return CurlLibrary{
      .easy_init = &curl_easy_init,
      .easy_cleanup = &curl_easy_cleanup,
      .easy_setopt = &curl_easy_setopt,
      .easy_getinfo = &curl_easy_getinfo,
      .easy_strerror = &curl_easy_strerror,
      .slist_append = &curl_slist_append,
      .slist_free_all = &curl_slist_free_all,
      .multi_init = &curl_multi_init,
      .multi_cleanup = &curl_multi_cleanup,
      .multi_setopt = &curl_multi_setopt,
      .multi_add_handle = &curl_multi_add_handle,
      .multi_remove_handle = &curl_multi_remove_handle,
      .multi_socket_action = &curl_multi_socket_action,
      .multi_info_read = &curl_multi_info_read,
      .authorities = Authorities(),
  };
}

}  // namespace

const Result<CurlLibrary>& Curl() {
  static const Result<CurlLibrary> library = Start();
  return library;
}

}  // namespace tacho
