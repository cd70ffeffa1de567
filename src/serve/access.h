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

// What a request gets in place of what it asks for.
struct AccessVerdict {
  int status = 0;  // 0: it may go on
  std::string why = {};
  std::vector<HttpHeader> headers = {};
};

// Decides who may ask a server of one user on a machine of many, whose port pages of other origins
// can reach too. In this order:
//
//   403  the Host is neither localhost, 127.0.0.1, [::1] nor a named one: another name that was
//        made to resolve to this machine (DNS rebinding) stops here
//   405  a method other than GET, HEAD and PUT
//   303  GET /?token= with the token: to ./, with the cookie "tacho-PORT" (HttpOnly, Strict)
//   401  neither that cookie nor the token as "Authorization: Bearer"
//   403  PUT without an Origin of the same host: a page of another origin
//
// Secrets are compared in constant time. Thread-safe.
class Access {
 public:
  // `hosts`: further names of this server, without a port. kUsage: a name that cannot be one.
  static Result<std::unique_ptr<Access>> Create(uint16_t port, std::vector<std::string> hosts);

  [[nodiscard]] AccessVerdict Check(const ServerRequest& request);
  // Whether Check lets a PUT with this head go on.
  [[nodiscard]] bool MayWrite(const ServerRequest& head) const;

  // Valid as long as the server runs.
  [[nodiscard]] const std::string& token() const { return token_; }
  // A token that one GET /?token= uses up: for a browser's command line, which other users of the
  // machine can read. The one before is no longer valid.
  Result<std::string> OneTimeToken();

 private:
  Access(uint16_t port, std::vector<std::string> hosts);
  [[nodiscard]] bool IsOurHost(const ServerRequest& request) const;
  [[nodiscard]] bool HasKey(const ServerRequest& request) const;
  bool TakesToken(std::string_view given);

  const std::string cookie_name_;
  std::vector<std::string> hosts_;
  std::string token_, cookie_;
  std::mutex mutex_;
  std::string one_time_;  // "": used up
};

}  // namespace tacho
