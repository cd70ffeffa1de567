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

// Says whether a request may go on, and otherwise with which answer it is refused or redirected.
struct AccessVerdict {
  int status = 0;  // 0: the request may go on
  std::string why = {};
  std::vector<HttpHeader> headers = {};
};

// Decides who may use a server that belongs to one user of a shared machine. Other users, and web
// pages of other origins, can reach its port too. Check tests a request in this order:
//
//   403  the Host is neither localhost, 127.0.0.1, [::1] nor in `hosts`: this stops other names
//        that were made to resolve to this machine (DNS rebinding)
//   405  the method is not GET, HEAD or PUT
//   303  GET /?token= with the token: redirects to /FOLDER/?token=PASS. The pass works once: that
//        request gets the cookie "tacho-PORT" (HttpOnly, Strict) and is redirected to ./
//   401  the request has neither that cookie (below /FOLDER/) nor the token as
//        "Authorization: Bearer"
//   403  a PUT has no Origin, or one of another host: it comes from a page of another origin
//
// A cookie is not bound to a port: a browser sends it to every server of this host, even to those
// of other users. So the cookie is valid only below the folder, whose name is secret: a browser
// never asks another server for that folder.
//
// Secrets are compared in constant time. Thread-safe.
class Access {
 public:
  // `hosts`: further names of this server, without a port. kUsage: one is not a host name.
  static Result<std::unique_ptr<Access>> Create(uint16_t port, std::vector<std::string> hosts);

  [[nodiscard]] AccessVerdict Check(const ServerRequest& request);
  // Whether Check would let a PUT with this head go on.
  [[nodiscard]] bool MayWrite(const ServerRequest& head) const;

  // The request's path without the secret folder.
  [[nodiscard]] std::string_view PathOf(const ServerRequest& request) const;

  // This token stays valid as long as the server runs.
  [[nodiscard]] const std::string& token() const { return token_; }
  // Makes a token that is valid for one GET /?token=, and makes the previous one invalid. It is for
  // a browser's command line, which other users of the machine can read.
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
  std::string one_time_;  // "": used up or never made
  std::vector<std::string> passes_;
};

}  // namespace tacho
