#pragma once

#include "net/http_server.h"

namespace tacho::simulate {

// Who may ask a simulated server, and how much. A page in a browser may not: it could make the
// server write traces. Browsers name the page's origin (Origin, Sec-Fetch-Site), and a page that
// gives its own name the address of this host is told by that name in Host; it is an address or
// localhost for all others. Bodies may be long on routes that take prompts alone.
HttpAdmission AdmitRequest(const ServerRequest& head);

}  // namespace tacho::simulate
