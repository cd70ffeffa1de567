#pragma once

#include "net/http_server.h"

namespace tacho::simulate {

// Decides which requests a simulated server accepts, and how long they may be. Pages in a browser
// are refused, because they could make the server write traces. Browsers send the page's origin
// (Origin, Sec-Fetch-Site). If a page's own name resolves to this host, Host holds that name; in
// all other requests Host is an address or localhost. Only routes that take prompts accept long
// bodies.
HttpAdmission AdmitRequest(const ServerRequest& head);

}  // namespace tacho::simulate
