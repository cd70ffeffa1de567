#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_server.h"

namespace tacho::simulate {

// Routes requests as FastAPI does: an unknown route gets 404 and {"detail":"Not Found"}, a wrong
// method 405.
class ApiRoutes {
 public:
  using Handler = std::function<void(const std::shared_ptr<HttpExchange>&)>;
  struct Route {
    std::string path;
    std::string methods;  // "GET, POST"
    Handler handle;
  };

  void Add(std::string path, std::string methods, Handler handle) {
    routes_.push_back({std::move(path), std::move(methods), std::move(handle)});
  }
  void Handle(const std::shared_ptr<HttpExchange>& exchange) const {
    const ServerRequest& request = exchange->request();
    for (const Route& route : routes_) {
      if (route.path != request.path) continue;
      if (route.methods.find(request.method) != std::string::npos) return route.handle(exchange);
      return exchange->Respond(405, R"({"detail":"Method Not Allowed"})", "application/json",
                               {{"allow", route.methods}});
    }
    exchange->Respond(404, R"({"detail":"Not Found"})", "application/json");
  }
  bool Knows(std::string_view path) const {
    for (const Route& route : routes_) {
      if (route.path == path) return true;
    }
    return false;
  }
  const std::vector<Route>& list() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

// The value of `key` in a query such as "a=1&b=2", not decoded; "" if the key is not there.
std::string QueryValue(std::string_view query, std::string_view key);

}  // namespace tacho::simulate
