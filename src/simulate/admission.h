#pragma once

#include "net/http_server.h"

namespace tacho::simulate {

// Decides whether a simulated server accepts a request, and how long its body may be. Only routes
// that take prompts accept long bodies.
//
// Refuses the requests of web pages in a browser, because a page could make the server write
// traces. Two signs show such a request. A browser sends the page's origin (Origin,
// Sec-Fetch-Site). Or the page's own name was made to resolve to this host: the Host header then
// holds that name, and not an address or localhost.
HttpAdmission AdmitRequest(const ServerRequest& head);

}  // namespace tacho::simulate
