#include "simulate/router.h"

namespace tacho::simulate {

Upstream* Router::Next() {
  for (size_t tries = 0; tries < upstreams_.size(); ++tries) {
    Upstream& upstream = upstreams_[turn_++ % upstreams_.size()];
    if (upstream.local != nullptr && !upstream.local->alive()) upstream.healthy = false;
    if (upstream.healthy) return &upstream;
  }
  return nullptr;
}

void Router::Pass(const std::shared_ptr<HttpExchange>& exchange, ServerRequest request,
                  Upstream& to, std::vector<HttpHeader> add_headers) {
  ++handled_;
  ++to.load;
  const uint64_t id = to.id;
  Forward(exchange, std::move(request), to, client_, std::move(add_headers), [this, id](int) {
    // It may have ended on the client's thread.
    loop_.Post([this, id] {
      for (Upstream& upstream : upstreams_) {
        if (upstream.id == id) --upstream.load;
      }
    });
  });
}

}  // namespace tacho::simulate
