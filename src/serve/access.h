#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http_server.h"

namespace tacho {

// Whether a request may go on, or else the answer that it gets instead.
struct AccessVerdict {
  int status = 0;  // 0: it may go on
  std::string why = {};
  std::vector<HttpHeader> headers = {};
};

// Decides who may use a server that belongs to one user of a shared machine. Other users, and pages
// of other origins, can reach its port too. Checked in this order:
//
//   403  the Host is neither localhost, 127.0.0.1, [::1] nor in `hosts`: this stops other names
//        that were made to resolve to this machine (DNS rebinding)
//   405  a method other than GET, HEAD and PUT
//   303  GET /?token= with the token: to /FOLDER/?token=PASS, which works once and leads to ./ with
//        the cookie "tacho-PORT" (HttpOnly, Strict)
//   401  a request with neither that cookie (below /FOLDER/) nor the token as
//        "Authorization: Bearer"
//   403  PUT without an Origin of the same host: a page of another origin
//
// A cookie is not bound to a port: a browser sends it to every server of this host, other users'
// too. So the cookie is valid only below the folder, whose name is secret: a browser never asks
// another server for that folder.
//
// Secrets are compared in constant time. Thread-safe.
class Access {
 public:
  // `hosts`: further names of this server, without a port. kUsage: not a host name.
  static Result<std::unique_ptr<Access>> Create(uint16_t port, std::vector<std::string> hosts);

  [[nodiscard]] AccessVerdict Check(const ServerRequest& request);
  // Whether Check lets a PUT with this head go on.
  [[nodiscard]] bool MayWrite(const ServerRequest& head) const;

  // The path without the folder.
  [[nodiscard]] std::string_view PathOf(const ServerRequest& request) const;

  // Valid as long as the server runs.
  [[nodiscard]] const std::string& token() const { return token_; }
  // A token that one GET /?token= uses up: for a browser's command line, which other users of the
  // machine can read. The previous one is no longer valid.
  Result<std::string> OneTimeToken();

 private:
  Access(uint16_t port, std::vector<std::string> hosts);
  [[nodiscard]] bool IsOurHost(const ServerRequest& request) const;
  [[nodiscard]] bool HasKey(const ServerRequest& request) const;
  [[nodiscard]] bool IsInFolder(const ServerRequest& request) const {
    return request.path.starts_with(folder_);
  }
  bool TakesToken(std::string_view given);
  bool TakesPass(std::string_view given);
  AccessVerdict PassToFolder();

  const std::string cookie_name_;
  std::vector<std::string> hosts_;
  std::string token_, cookie_, folder_;
  std::mutex mutex_;
  std::string one_time_;  // "": used up
  std::vector<std::string> passes_;
};

}  // namespace tacho
