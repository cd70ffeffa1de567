#pragma once

#include "net/http_server.h"

namespace tacho::simulate {

// Decides whether a simulated server accepts a request, and how long its body may be. Refuses web
// pages in a browser, because they could make the server write traces. A browser sends the page's
// origin (Origin, Sec-Fetch-Site); if the page's own name resolves to this host, the Host header
// holds that name, while in all other requests it holds an address or localhost. Only routes that
// take prompts accept long bodies.
HttpAdmission AdmitRequest(const ServerRequest& head);

}  // namespace tacho::simulate
