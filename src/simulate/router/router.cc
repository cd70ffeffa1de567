#include "simulate/router/router.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.h"

namespace tacho::simulate {

Upstream* Router::Next() {
  for (size_t tries = 0; tries < upstreams_.size(); ++tries) {
    Upstream& upstream = upstreams_[turn_++ % upstreams_.size()];
    if (upstream.Answers()) return &upstream;
  }
  return nullptr;
}

Upstream* Router::Find(uint64_t id) {
  const auto found = std::ranges::find(upstreams_, id, &Upstream::id);
  return found == upstreams_.end() ? nullptr : &*found;
}

int64_t Router::Answering() const { return std::ranges::count_if(upstreams_, &Upstream::Answers); }

HttpHeader Router::RequestId(const ServerRequest& request) {
  const std::string own(FindHeader(request.headers, "X-Request-Id"));
  const uint64_t number = next_request_++;
  return {"x-request-id", own.empty() ? fmt::format("{:016x}{:08x}", HashNumber(number),
                                                    HashNumber(~number) & 0xffffffffU)
                                      : own};
}

void Router::Pass(const std::shared_ptr<HttpExchange>& exchange, Upstream& to,
                  ForwardOptions options) {
  ++handled_;
  ++to.load;
  options.ended = [this, id = to.id, ended = std::move(options.ended)](int status) {
    // This may run on the client's thread.
    loop_.Post([this, id, ended, status] {
      if (Upstream* upstream = Find(id)) --upstream->load;
      if (ended) ended(status);
    });
  };
  Forward(exchange, to, client_, std::move(options));
}

}  // namespace tacho::simulate
