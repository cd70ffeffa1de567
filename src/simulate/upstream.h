#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/http_client.h"
#include "net/http_server.h"
#include "simulate/worker.h"

namespace tacho::simulate {

// A worker as a router knows it.
struct Upstream {
  std::string url;          // as it was registered, without @rank
  std::optional<int> rank;  // of a data-parallel engine behind it
  Worker* local = nullptr;  // one of ours; else it is asked over HTTP
  bool healthy = true;
  int64_t load = 0;
  uint64_t id = 0;
  std::string type = "regular";

  std::string Listed() const { return rank ? url + "@" + std::to_string(*rank) : url; }
};

// Answers `exchange` with what `upstream` says to `request`, piece by piece as it comes. `ended` is
// called once, with the status (0: it could not be reached, and nothing has been answered).
void Forward(const std::shared_ptr<HttpExchange>& exchange, ServerRequest request,
             const Upstream& upstream, HttpClient& client, std::vector<HttpHeader> add_headers,
             std::function<void(int status)> ended);

}  // namespace tacho::simulate
